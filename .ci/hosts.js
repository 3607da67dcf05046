// A scripted model on loopback, and a real host talking to it. .ci/hosts says what for; the hosts, `taskie` and `git` are
// found on PATH.
//   node hosts.js plan HOST PROJECT SECONDS REVIEWER…   plays the agent and the reviewers, from the command new-plan until
//                                                       the plan is reviewed, and checks what is on disk then, and who
//                                                       reviewed; the first review takes SECONDS; HOST is codex, copilot,
//                                                       gemini, qwen or droid
//   node hosts.js change HOST PROJECT                   asks for reviews of a change, without a plan, and plays the agent
//                                                       until it is clean; HOST is codex, copilot or gemini
//   node hosts.js cap HOST PROJECT REVIEWS              plays an agent whose reviews find something else each time, until
//                                                       the user is asked at the limit; HOST is copilot or qwen
// What the host has shown is in PROJECT/.git/shown.txt afterwards.
const assert = require("node:assert/strict");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const say = (text) => ({ text });
const run = (command) => ({ command });
const call = (tool, input) => ({ tool, input });

// How each API says what the model answers; `tool` is the name of the shell's tool there.
const apis = {
  // OpenAI's Responses API.
  "/v1/responses": (block, n) => {
    const id = `resp_${n}`;
    const item = block.text
      ? { type: "message", role: "assistant", id: `msg_${n}`, content: [{ type: "output_text", text: block.text }] }
      : { type: "function_call", id: `fc_${n}`, call_id: `call_${n}`, name: "exec_command", arguments: JSON.stringify({ cmd: block.command, login: false }) };
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    return [
      { type: "response.created", response: { id } },
      { type: "response.output_item.done", item },
      { type: "response.completed", response: { id, usage } },
    ];
  },
  // Anthropic's Messages API.
  "/v1/messages": (block, n) => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const call = (name, input) => [{ type: "tool_use", id: `toolu_${n}`, name, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(input) }];
    const [empty, delta] = block.text
      ? [{ type: "text", text: "" }, { type: "text_delta", text: block.text }]
      : block.tool
        ? call(block.tool, block.input)
        : call("bash", { command: block.command, description: "A step" });
    const message = { id: `msg_${n}`, type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null, usage };
    return [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: empty },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: block.text ? "end_turn" : "tool_use", stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
  },
  // OpenAI's Chat Completions API.
  "/v1/chat/completions": (block, n) => {
    const call = () => ({ index: 0, id: `call_${n}`, type: "function", function: { name: "run_shell_command", arguments: JSON.stringify({ command: block.command, is_background: false }) } });
    const delta = block.text ? { role: "assistant", content: block.text } : { role: "assistant", tool_calls: [call()] };
    const chunk = { id: `chat_${n}`, object: "chat.completion.chunk", created: 1, model: "m" };
    return [
      { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: block.text ? "stop" : "tool_calls" }] },
    ];
  },
  // Gemini's API.
  "/v1beta/models/m:streamGenerateContent": (block) => {
    const part = block.text ? { text: block.text } : { functionCall: { name: "run_shell_command", args: { command: block.command } } };
    return [{ candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }] }];
  },
};

// Serves the APIs: `answer(text, results, client)` gives one block, where `text` is the request, `results` says how many
// results of tools are in it, and `client` is what the program calls itself.
async function serve(answer) {
  let n = 0;
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      const events = apis[new URL(request.url, "http://loopback").pathname];
      if (!events) {
        response.setHeader("content-type", "application/json");
        response.end('{"data": [], "models": []}');
        return;
      }
      n += 1;
      const results = body.split(/"type":"(?:function_call_output|tool_result)"|"functionResponse":/).length - 1;
      response.setHeader("content-type", "text/event-stream");
      const number = n;
      Promise.resolve(answer(body, results, request.headers["user-agent"] ?? "")).then((block) => {
        for (const event of events(block, number)) {
          response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
        }
        response.end();
      });
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => (server.closeAllConnections(), server.close()) };
}

// Writes where the model is into a file of the user's own configuration: the reviewer has the same.
const configure = (file, text) => fs.writeFileSync(path.join(process.env.HOME, file), text);
const codex = (address) => {
  const old = fs.readFileSync(path.join(process.env.HOME, ".codex/config.toml"), "utf8").replace(/^# model\n[^]*?# end\n/, "");
  configure(
    ".codex/config.toml",
    `# model\nmodel = "gpt-5"\nmodel_provider = "loopback"\n\n[model_providers.loopback]\nname = "loopback"\nbase_url = "${address}/v1"\nwire_api = "responses"\n# end\n${old}`,
  );
};

// `root` finds the folder of the plugin in what the model is sent; `steps` are the first that the agent takes.
const hosts = {
  codex: {
    prepare: codex,
    argv: ["codex", "exec", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access", "$taskie:new-plan Greet the user"],
    root: /(\/[^"\s<>]+)\/agent-skills\/(?:new-plan|review)/,
    command: "$taskie:",
  },
  copilot: {
    // The reviewer is a hook's child, and Copilot keeps its variables from hooks: .ci/hosts puts them before each `copilot`.
    prepare: () => ({}),
    argv: ["copilot", "--allow-all", "--prompt", "Use the skill new-plan: Greet the user"],
    first: [call("skill", { skill: "new-plan" })],
    root: /(\/[^"\s<>]+)\/agent-skills\/(?:new-plan|review)/,
    command: "/taskie:",
    // It shows the user no message of a hook: the agent does.
    hears: ["plan-review 1/8: PASS", "Tell the user exactly this", "Plan review passed"],
  },
  gemini: {
    prepare: (address) => {
      codex(address);
      configure(".gemini/settings.json", '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }');
      return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: address };
    },
    argv: ["gemini", "--skip-trust", "--yolo", "--model", "m", "--prompt", "/taskie:new-plan Greet the user"],
    root: /cat (~\/\S+)\/commands\/(?:new-plan|review)\.md/,
    session: /add `(--session \S+)` to every/,
    command: "/taskie:",
  },
  qwen: {
    prepare: (address) => {
      codex(address);
      configure(".qwen/settings.json", '{ "memory": { "enableManagedAutoMemory": false } }');
      return { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${address}/v1`, OPENAI_MODEL: "m" };
    },
    argv: ["qwen", "--yolo", "--auth-type", "openai", "--prompt", "/new-plan Greet the user"],
    root: /@\\"(\/\S+)\/ground-rules\.md/,
    command: "/",
    // It waits a minute for a hook: the agent runs the reviews.
    calls: /Run `(taskie review --wait 50 --session [^`]+)`, and again/,
  },
  droid: {
    prepare: (address) => {
      codex(address);
      const file = ".factory/settings.json";
      const settings = JSON.parse(fs.readFileSync(path.join(process.env.HOME, file), "utf8"));
      const model = { model: "m", displayName: "m", baseUrl: address, apiKey: "none", provider: "anthropic", maxOutputTokens: 8192 };
      configure(file, JSON.stringify({ ...settings, customModels: [model] }));
      return { FACTORY_API_KEY: "none" };
    },
    argv: ["droid", "exec", "--skip-permissions-unsafe", "--model", "custom:m-0", "/taskie:new-plan Greet the user"],
    // `exec` hands the prompt over as it is; the terminal's client would put the command's text in its place.
    place: () => execFileSync("find", [path.join(process.env.HOME, ".factory/plugins/cache"), "-name", "ground-rules.md"], { encoding: "utf8" }).trim().replace(/\/ground-rules\.md$/, ""),
    session: /add `(--session \S+)` to every/,
    command: "/taskie:",
    run: (command) => call("Execute", { command, summary: "A step", timeout: 60, riskLevel: "low", riskLevelReason: "A step" }),
  },
};

// What the reviewer of a plan answers, in the way of Claude Code or as text.
function reviewed(text, results, client, verdict = { verdict: "PASS" }) {
  const [, file] = /Write your review to (\S+?\.md)/.exec(text) ?? [];
  const isClaude = client.startsWith("claude-cli");
  // It asks for titles and the like as well.
  if (isClaude && !text.includes('"StructuredOutput"')) return say("A title");
  const write = `echo 'No issues.' > ${file}`;
  if (!isClaude) return results === 0 ? run(write) : say(`I checked all of it.\n\n\`\`\`json\n${JSON.stringify(verdict)}\n\`\`\``);
  return [call("Bash", { command: write, description: "A step" }), call("StructuredOutput", verdict)][results] ?? say("Done.");
}

// Lets the host work in `project`: the agent takes these steps, one for each request, and `review(text, results, client)`
// is what its reviewers answer. Returns how to start the host, what the agent was sent, and how to end the model.
async function drive(host, project, agent, review) {
  const { prepare, run: own } = hosts[host];
  const heard = [];
  const model = await serve(async (text, results, client) => {
    if (text.includes("You are an independent reviewer") || client.startsWith("claude-cli")) return review(text, results, client);
    heard.push(text);
    const step = agent[heard.length - 1] ?? say("Nothing is left to do.");
    const block = typeof step === "function" ? step() : step;
    return own && block.command ? own(block.command) : block;
  });
  configure("address", model.address);
  const env = { ...process.env, ...prepare(model.address) };
  const start = (argv) => new Promise((done, failed) => {
    const client = spawn(argv[0], argv.slice(1), { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [client.stdout, client.stderr]) stream.on("data", (part) => (printed += part));
    client.on("error", failed);
    client.on("close", (code) => done([code, printed]));
  });
  const transcript = (printed) => `${heard.map((text, n) => `${n}: ${text.slice(-600)}`).join("\n")}\n${printed}`;
  return { start, heard, transcript, close: model.close };
}

// What a host has sent about this, from the first request on.
const found = (heard, pattern) => heard.map((text) => pattern?.exec(text)?.[1]).find(Boolean) ?? "";

async function played([host, project, seconds, ...reviewers]) {
  const { argv, first = [], root: sent, place, session: named, command, hears = [], calls } = hosts[host];
  execFileSync("git", ["init", "--quiet"], { cwd: project });
  const plan = ".taskie/plans/greeting";
  const root = () => place?.() ?? found(heard, sent);
  const session = () => found(heard, named);
  // A shell's command may end before the review does.
  const called = calls ? [() => run(`until ${found(heard, calls)}; code=$?; test $code != 4; do :; done`)] : [];
  const agent = [
    ...first,
    // As the skill says: the command's text, and the files that it attaches.
    () => run(`cd ${root()} && cat commands/new-plan.md ground-rules.md actions/new-plan.md`),
    run(`mkdir -p ${plan} && printf '## Original Prompt\\n\\n> Greet the user\\n\\n## Overview\\n\\nA greeting.\\n' > ${plan}/plan.md`),
    () => run(`taskie enter new-plan --plan greeting ${session()}`),
    say("The plan is written."),
    ...called,
    () => run(`printf '# Answer\\n\\nThere were no issues.\\n' > ${plan}/plan-post-review-1.md && taskie enter post-plan-review --plan greeting ${session()}`),
    ...called,
    say("The review is answered."),
  ];
  let isSlow = Number(seconds) > 0;
  const { start, heard, transcript: whole, close } = await drive(host, project, agent, async (...asked) => {
    const block = reviewed(...asked);
    if (isSlow && block.text !== "A title") {
      isSlow = false;
      await new Promise((later) => setTimeout(later, 1000 * Number(seconds)));
    }
    return block;
  });
  const [code, printed] = await start(argv);
  close();
  fs.writeFileSync(path.join(project, ".git/shown.txt"), printed);

  const transcript = () => whole(printed);
  assert.equal(code, 0, transcript());
  const state = JSON.parse(fs.readFileSync(path.join(project, plan, "state.json"), "utf8"));
  assert.deepEqual([state.phase, state.phase_iteration, state.next_phase, state.consecutive_clean], ["plan-review", 2, "create-tasks", 2], transcript());
  const files = fs.readdirSync(path.join(project, plan)).filter((name) => name.endsWith(".md"));
  assert.deepEqual(files.sort(), ["plan-post-review-1.md", "plan-review-1.md", "plan-review-2.md", "plan.md"]);
  // What the machine keeps is in the git directory, or beside the plan where a sandbox cannot write there.
  const kept = execFileSync("find", [".git", ".taskie", "-name", ".home.jsonl"], { cwd: project, encoding: "utf8" });
  const lines = kept.trim().split("\n").flatMap((file) => fs.readFileSync(path.join(project, file), "utf8").split("\n"));
  const claims = lines.filter((line) => line.includes('"claim"')).map((line) => JSON.parse(line));
  const sessions = new Set(claims.filter(({ claim }) => claim && claim.instance === path.basename(plan)).map(({ session }) => session));
  assert.equal(sessions.size, 1, "the plan belongs to the session that made it");
  assert.ok(root(), "the skill's text reached the model");
  const rules = fs.readFileSync(path.join(__dirname, "../plugin/taskie/ground-rules.md"), "utf8").split("\n")[0];
  assert.ok(heard.some((text) => text.includes(rules)), "so did what it attaches");
  const log = execFileSync("taskie", ["log", "--json"], { cwd: project, encoding: "utf8" });
  const reviews = log.trim().split("\n").map((line) => JSON.parse(line)).filter(({ line }) => line === "review");
  assert.deepEqual(reviews.map(({ by }) => by), reviewers, "the reviewers took turns");
  assert.ok(reviews[0].seconds >= Number(seconds), "the first review was slow");
  for (const part of hears) assert.ok(heard.some((text) => text.includes(part)), `the agent hears: ${part}\n${transcript()}`);
  assert.ok(heard.some((text) => text.includes(`\`${command}post-plan-review\` has the steps`)), "the review names the skill");
}

// A change without a plan: the first review finds something, the next is clean, which is enough for a small one, and then it is
// off again. With `every_stop`, nobody asks for it.
async function changed([host, project, every]) {
  const { argv, root: sent, session: named } = hosts[host];
  const git = (...args) => execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], { cwd: project, encoding: "utf8" });
  const write = (content) => `printf '${content}\\n' > greet.sh`;
  const fixed = "change-1-review-1.1: fixed";
  const file = path.join(project, "greet.sh");
  git("init", "--quiet", "--initial-branch", "main");
  fs.writeFileSync(file, "echo hello\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "one");
  if (!every) fs.writeFileSync(file, "echo helo\n");
  const first = argv.at(-1).startsWith("Use the skill") ? [call("skill", { skill: "review" })] : [];
  const begins = every ? [run(write("echo helo")), say("It greets now.")] : [
    ...first,
    () => run(`cd ${found(heard, sent)} && cat commands/review.md`),
    // The text's own line, in which the shell makes the host's variable empty.
    () => run(`taskie review --at-stop ${found(heard, named) || '--session "${CLAUDE_SESSION_ID}"'}`),
    say("The change is reviewed now."),
  ];
  const agent = [
    ...begins,
    run(write("echo hello there")),
    // Where the host names no last message, the block names a file for it.
    () => {
      const [, answer] = /say so in the file (\S+?), on a line/.exec(heard.at(-1)) ?? [];
      return answer ? run(`echo '${fixed}' > ${answer}`) : say(fixed);
    },
    say(fixed),
  ];
  const finding = { severity: "major", file: "greet.sh", line: 1, title: "The greeting is misspelled" };
  const clean = { verdict: "PASS", findings: [], review: "It greets." };
  const answers = [{ verdict: "FAIL", findings: [finding], review: "It says helo." }, clean];
  const asked = [];
  const { start, heard, transcript, close } = await drive(host, project, agent, (text) => {
    asked.push(text);
    return say(`I checked all of it.\n\n\`\`\`json\n${JSON.stringify(answers[asked.length - 1])}\n\`\`\``);
  });
  const command = argv.at(-1).replace("new-plan", "review").replace(/[ :]+Greet the user/, "");
  const prompt = every ? "Greet the user" : command;
  const [code, printed] = await start([...argv.slice(0, -1), prompt]);
  close();
  const all = transcript(printed);
  assert.equal(code, 0, all);
  assert.equal(asked.length, 2, all);
  assert.ok(/change-1-review-1\.1: fixed|says about them is in \S+change-1-answer-1\.md/.test(asked[1]), `the second reviewer reads what the agent said last\n${asked[1]}`);
  const ofCommand = every ? [] : ["and what you still change"];
  const parts = [...ofCommand, "change-1-review-1.1 (major, greet.sh:1): The greeting is misspelled"];
  for (const part of parts) assert.ok(heard.some((text) => text.includes(part)), `the agent hears: ${part}\n${all}`);
  // That of a session is removed when the session ends, where the host has a hook for that.
  const folder = path.join(project, ".git/taskie/changes");
  const states = fs.readdirSync(folder).map((name) => path.join(folder, name, "state.json")).filter((file) => fs.existsSync(file));
  for (const file of states) assert.equal(JSON.parse(fs.readFileSync(file, "utf8")).next_phase, "clean", all);
  assert.equal(git("status", "--short"), " M greet.sh\n");
  assert.equal(git("fsck", "--no-dangling"), "");
}

// A plan whose reviews find something else each time, on a host that sends an agent back a limited number of times in a turn: the
// user is asked before a review is paid whose findings the host would keep from the agent.
async function capped([host, project, reviews]) {
  const { argv, first = [], root: shown, calls } = hosts[host];
  execFileSync("git", ["init", "--quiet"], { cwd: project });
  const plan = ".taskie/plans/greeting";
  const answer = (n) =>
    run(
      `echo 'Clearer ${n}.' >> ${plan}/plan.md && printf '# Answer\n\nplan-review-${n}.1: fixed\n' > ${plan}/plan-post-review-${n}.md && taskie enter post-plan-review --plan greeting`,
    );
  // Where the agent runs the reviews: whenever a message asks for one, and only then.
  let asked = 0;
  const due = () => {
    const all = [...heard.at(-1).matchAll(new RegExp(calls, "g"))];
    const isNew = all.length > asked;
    asked = all.length;
    return isNew ? run(`until ${all.at(-1)[1]}; code=$?; test $code != 4; do :; done; true`) : say("Nothing is due.");
  };
  const called = calls ? [due] : [];
  const rounds = Array.from({ length: 12 }, (_, n) => [...called, answer(n + 1), say(`Round ${n + 1} is answered.`)]);
  const agent = [
    ...first,
    () => run(`cd ${found(heard, shown)} && cat commands/new-plan.md ground-rules.md actions/new-plan.md`),
    run(`mkdir -p ${plan} && printf '## Original Prompt\\n\\n> Greet the user\\n\\n## Overview\\n\\nA greeting.\\n' > ${plan}/plan.md`),
    run("taskie enter new-plan --plan greeting"),
    say("The plan is written."),
    ...rounds.flat(),
  ];
  let n = 0;
  const { start, heard, transcript, close } = await drive(host, project, agent, (text, results, client) => {
    n += results === 0;
    const finding = { severity: "major", file: "plan.md", line: n, title: `Word ${n} is unclear` };
    return reviewed(text, results, client, { verdict: "FAIL", findings: [finding] });
  });
  const [, printed] = await start(argv);
  close();
  const all = transcript(printed);
  assert.equal(n, Number(reviews), all);
  for (let review = 1; review <= n; review += 1) {
    assert.ok(heard.some((text) => text.includes(`plan-review-${review}.1`)), `the agent hears of review ${review}\n${all}`);
  }
  const question = "sends the agent back only a few times in one turn";
  assert.ok([printed, ...heard].some((text) => text.includes(question)), `the user is asked\n${all}`);
}

const [what, ...rest] = process.argv.slice(2);
({ plan: played, change: changed, cap: capped })[what](rest).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
