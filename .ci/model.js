// A scripted model on loopback, and the real client talking to it. .ci/client explains the purpose; `claude`, `taskie` and
// `git` must be on PATH.
//   node model.js typed ROOT FILE COMMAND PROJECT   types /COMMAND, whose text is FILE of the plugin in ROOT, and
//                                                   checks that the text and all that it attaches reach the model
//   node model.js played PROJECT                    plays the agent and the reviewer from /taskie:new-plan until the
//                                                   plan is reviewed, and checks what is on disk then
//   node model.js guarded FOLDER                    nothing in a repository starts a reviewer, nor does plan mode;
//                                                   a client that is killed takes its reviewer with it
//   node model.js gated PROJECT                     plays a task with a gate that fails at first, and checks that no
//                                                   reviewer is started before it succeeds
//   node model.js converged PROJECT                 plays a task whose reviewers find something each time: what the user
//                                                   decides does not come back, and nothing changes in the end
//   node model.js tampered FOLDER                   changes, between two reviews, what they and the loop depend on, and checks
//                                                   that the user reads it at the next stop
//   node model.js stopped PROJECT                   asks for reviews of a change, without a plan, and plays the agent until
//                                                   it is clean
//   node model.js every PROJECT                     turns `every_stop` on, and checks what is read how many times
//   node model.js alone PROJECT                     a whole plan after one prompt
//   node model.js restricted PROJECT                runs the reviews of a task with `permissions` set to `restricted`,
//                                                   and checks what the reviewer can do and what it cannot
const assert = require("node:assert/strict");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const text = (text) => ({ type: "text", text });
const call = (name, input) => ({ type: "tool_use", id: `toolu_${Math.random().toString(36).slice(2)}`, name, input });
const bash = (command) => call("Bash", { command, description: "A step" });

// Serves the messages API: `answer(request)` returns one block of content, or null to keep the client waiting. Returns the
// address.
async function serve(answer) {
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", async () => {
      const path = new URL(request.url, "http://loopback").pathname;
      if (path !== "/v1/messages") {
        response.setHeader("content-type", "application/json");
        response.end('{"input_tokens": 1}');
        return;
      }
      const asked = JSON.parse(body);
      const block = await answer(asked);
      if (block === null) return;
      const reason = block.type === "tool_use" ? "tool_use" : "end_turn";
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: `msg_${Math.random()}`, type: "message", role: "assistant", model: asked.model, content: [], stop_reason: null, stop_sequence: null, usage };
      if (!asked.stream) {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ ...message, content: [block], stop_reason: reason }));
        return;
      }
      response.setHeader("content-type", "text/event-stream");
      const send = (type, rest) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
      const [empty, delta] =
        block.type === "text"
          ? [text(""), { type: "text_delta", text: block.text }]
          : [{ ...block, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
      send("message_start", { message });
      send("content_block_start", { index: 0, content_block: empty });
      send("content_block_delta", { index: 0, delta });
      send("content_block_stop", { index: 0 });
      send("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage });
      send("message_stop", {});
      response.end();
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => (server.closeAllConnections(), server.close()) };
}

// Starts the client with `prompt`.
function start(prompt, project, address, options = ["--permission-mode", "acceptEdits"]) {
  const args = ["--print", "--verbose", "--output-format", "stream-json", ...options, prompt];
  const env = { ...process.env, ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: "none" };
  return spawn("claude", args, { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
}

// Types `prompt` into a session of the client, a new one unless the options name one; returns its output.
function type(...session) {
  return new Promise((done, failed) => {
    const client = start(...session);
    let printed = "";
    client.stdout.on("data", (part) => (printed += part));
    client.on("error", failed);
    client.on("close", (code) => (code === 0 ? done(printed) : failed(new Error(`the client ended with ${code}\n${printed}`))));
  });
}

// The client asks for titles and the like as well; those requests bring no tools.
const isAgent = ({ tools = [] }) => tools.some(({ name }) => name === "Bash");
const isReviewer = ({ tools = [] }) => tools.some(({ name }) => name === "StructuredOutput");

// What the user sees at the stops of a session that printed this.
const seen = (printed) =>
  printed.split("\n").flatMap((line) => {
    const { subtype, content } = line ? JSON.parse(line) : {};
    return subtype === "informational" ? content.split("\n").filter((text) => text.startsWith("Stop says: ")) : [];
  });

// All text in the messages of a request, as it is before it becomes JSON.
function said(value) {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return "";
  return Object.values(value).map(said).join("\n");
}

// Plays an agent that takes these steps, one for each request, and reviewers: `review` says what the one that reads a prompt
// answers, and the first one takes that many seconds more. Returns what the agent was sent, what the client printed, and both for a message.
async function play(prompt, project, agent, review = () => ({ verdict: "PASS" }), seconds = 0) {
  const heard = [];
  const model = await serve(async (asked) => {
    if (isReviewer(asked)) {
      const pause = 1000 * seconds;
      seconds = 0;
      await new Promise((later) => setTimeout(later, pause));
      const read = said(asked.messages);
      const [, file] = /Write your review to (\S+\.md)/.exec(read);
      const steps = [bash(`echo 'A review.' > ${file}`), call("StructuredOutput", review(read, file)), text("Done.")];
      return steps[asked.messages.filter(({ role }) => role === "assistant").length] ?? text("Done.");
    }
    if (!isAgent(asked)) return text("A title");
    heard.push(said(asked.messages.at(-1)));
    const step = agent[heard.length - 1] ?? text("Nothing is left to do.");
    return typeof step === "function" ? step() : step;
  });
  const printed = await type(prompt, project, model.address);
  model.close();
  const transcript = () => `${heard.map((text, n) => `${n}: ${text.slice(-400)}`).join("\n")}\n${printed}`;
  return { heard, printed, transcript };
}

// Writes files of a project: the plan `greeting`, whose task 1 waits for its review, and others.
function prepare(project, others) {
  const plan = ".taskie/plans/greeting";
  const files = {
    [`${plan}/plan.md`]: "## Overview\n\nA greeting.\n",
    [`${plan}/tasks.md`]: "| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | pending |\n",
    [`${plan}/task-1.md`]: "# Greet\n\n- **Status**: done\n",
    [`${plan}/state.json`]: '{"max_reviews": 8, "current_task": "1", "phase": "complete-task", "phase_iteration": 0, "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false}\n',
    ...others,
  };
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    fs.writeFileSync(path.join(project, name), content);
  }
  execFileSync("git", ["init", "--quiet"], { cwd: project });
  return plan;
}

async function typed([root, file, command, project]) {
  let reached = "";
  const model = await serve((asked) => {
    if (isAgent(asked)) reached += said(asked.messages);
    return text("Done.");
  });
  await type(`/${command} some words`, project, model.address);
  model.close();
  const own = fs.readFileSync(file, "utf8").replace(/^---\n.*?\n---\n/s, "");
  const attached = [...own.matchAll(/^@"?\$\{CLAUDE_PLUGIN_ROOT\}\/([^"\n]+)"?$/gm)].map(([, name]) => name);
  const parts = [
    // Substituted text, and the output of commands, differs by then.
    ["the command", own.split("\n").filter((line) => !/[$@]|!`/.test(line))],
    ...attached.map((name) => [name, fs.readFileSync(path.join(root, name), "utf8").split("\n")]),
  ];
  for (const [name, lines] of parts) {
    const missing = lines.filter((line) => !reached.includes(line));
    assert.deepEqual(missing, [], `/${command}: these lines of ${name} did not reach the model`);
  }
  for (const name of ["CLAUDE_PLUGIN_ROOT", "ARGUMENTS"]) {
    const left = reached.split("\n").filter((line) => line.includes(`$${name}`) || line.includes(`\${${name}}`));
    assert.deepEqual(left, [], `/${command}: $${name} was not substituted`);
  }
}

async function played([project, seconds = 0]) {
  const git = (...args) => execFileSync("git", ["-c", "user.name=Agent", "-c", "user.email=agent@example.invalid", ...args], { cwd: project, encoding: "utf8" });
  git("init", "--quiet");
  const plan = ".taskie/plans/greeting";
  const write = (name, content) => call("Write", { file_path: path.join(project, plan, name), content });
  const agent = [
    write("plan.md", "## Original Prompt\n\n> Greet the user\n\n## Overview\n\nA greeting.\n"),
    bash("taskie enter new-plan --plan greeting"),
    text("The plan is written."),
    call("Skill", { skill: "taskie:post-plan-review" }),
    write("plan-post-review-1.md", "# Answer\n\nThere were no issues.\n"),
    bash("taskie enter post-plan-review --plan greeting"),
    text("The review is answered."),
  ];
  const review = () => ({ verdict: "PASS" });
  const { heard, printed, transcript } = await play("/taskie:new-plan Greet the user", project, agent, review, Number(seconds));

  const state = JSON.parse(fs.readFileSync(path.join(project, plan, "state.json"), "utf8"));
  assert.deepEqual(
    state,
    {
      max_reviews: 8, current_task: null, phase: "plan-review", phase_iteration: 2, next_phase: "create-tasks",
      review_model: "opus", consecutive_clean: 2, tdd: false,
    },
    transcript(),
  );
  const session = JSON.parse(printed.split("\n")[0]).session_id;
  // In a folder of its own in the git directory.
  const kept = path.join(project, ".git/taskie");
  const journals = fs.readdirSync(kept).map((folder) => path.join(kept, folder, ".home.jsonl")).filter(fs.existsSync);
  const taken = journals.map((file) => fs.readFileSync(file, "utf8")).join("\n");
  const claims = taken.split("\n").filter((line) => line.includes('"claim"')).map((line) => JSON.parse(line));
  const claimed = claims.some((line) => line.session === session && line.claim.instance === path.basename(plan));
  assert.ok(claimed, `the plan belongs to the session that made it: ${taken}`);
  const files = fs.readdirSync(path.join(project, plan)).filter((name) => name.endsWith(".md"));
  assert.deepEqual(files.sort(), ["plan-post-review-1.md", "plan-review-1.md", "plan-review-2.md", "plan.md"]);
  assert.equal(heard.length, agent.length, transcript());
  assert.match(printed, /plan-review 1\/8: PASS by opus/, "the user sees the verdict");
  assert.match(heard[3], /A plan review \(iteration 1\) has been written to/, transcript());
}

async function gated([project]) {
  const plan = prepare(project, {
    ".taskie/config.json": '{ "gates": ["sh check.sh"], "clean": 1 }\n',
    "check.sh": "test -e fixed || { echo 'it is broken'; exit 3; }\n",
  });
  execFileSync("taskie", ["config", "trust", "--yes"], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  const isFixed = () => fs.existsSync(path.join(project, "fixed"));
  const agent = [
    bash("taskie next --plan greeting"),
    text("The code is written."),
    call("Write", { file_path: path.join(project, "fixed"), content: "yes\n" }),
    text("The code is fixed."),
  ];
  const read = [];
  const { heard, transcript } = await play("/taskie:continue-plan", project, agent, (prompt) => {
    read.push([isFixed(), prompt]);
    return { verdict: "PASS" };
  });

  assert.match(heard[2], /The gate `sh check\.sh` exited with code 3\. No reviewer has read the work yet\.[^]*it is broken/, transcript());
  assert.equal(heard.length, agent.length, transcript());
  assert.ok(read.length > 0 && read.every(([fixed]) => fixed), "no reviewer was started before the gate succeeded");
  assert.match(read[0][1], /all of them succeeded\. Don't run them again:\s+- `sh check\.sh`/);
  const state = JSON.parse(fs.readFileSync(path.join(project, plan, "state.json"), "utf8"));
  assert.deepEqual([state.phase, state.phase_iteration, state.next_phase], ["code-review", 1, "complete-task"], transcript());
  const log = execFileSync("taskie", ["log", "--json"], { cwd: project, encoding: "utf8" });
  const lines = log.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.filter(({ line }) => line === "gate").map(({ exit }) => exit), [3, 0]);
  assert.equal(lines.filter(({ line }) => line === "review").length, 1);
}

async function converged([project]) {
  const plan = prepare(project, { "greet.sh": "echo hello\n" });
  const finding = (severity, title) => ({ severity, file: "greet.sh", line: 1, title });
  const declined = finding("major", "It does not greet in French");
  const rounds = [
    [finding("major", "It greets nobody"), declined, finding("minor", "It shouts")],
    [declined, finding("major", "It has no test")],
    [finding("major", "It has no help")],
  ];
  const reported = [];
  const review = (prompt, file) => {
    const n = Number(/task-1-review-(\d+)\.md$/.exec(file)[1]);
    const isRejected = ({ title }) => prompt.split("\n").some((line) => / rejected .*Why: /.test(line) && line.includes(title));
    reported[n] = rounds[n - 1].filter((finding) => !isRejected(finding));
    return { verdict: "FAIL", findings: reported[n] };
  };
  const answer = (n, content) => [
    call("Write", { file_path: path.join(project, plan, `task-1-post-review-${n}.md`), content }),
    call("Skill", { skill: "taskie:post-code-review" }),
    bash("taskie enter post-code-review --plan greeting"),
  ];
  // The user decides in a terminal, while the agent works.
  const rule = () => {
    execFileSync("taskie", ["findings", "reject", "task-1-review-1.2", "--reason", "English only"], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
    return text("The first review is answered.");
  };
  const agent = [
    bash("taskie next --plan greeting"),
    text("The code is written."),
    ...answer(1, "- task-1-review-1.1: fixed\n- task-1-review-1.2: declined: not asked for\n- task-1-review-1.3: deferred\n"),
    rule,
    ...answer(2, "Nothing to do.\n"),
    text("The second review is answered."),
    ...answer(3, "Nothing to do.\n"),
    text("The third review is answered."),
  ];
  const { heard, printed, transcript } = await play("/taskie:continue-plan", project, agent, review);

  assert.equal(heard.length, agent.length, transcript());
  const shown = seen(printed);
  assert.ok(shown.some((line) => /code-review 1\/8: FAIL: 2 major, 1 minor \(/.test(line)), transcript());
  assert.match(heard[2], /- task-1-review-1\.2 \(major\): It does not greet in French/, transcript());
  const titles = reported.slice(1).map((findings) => findings.map(({ title }) => title));
  const expected = [["It greets nobody", declined.title, "It shouts"], ["It has no test"], ["It has no help"]];
  assert.deepEqual(titles, expected, "the user's decision reached the second reviewer");
  const question = "Stop says: The last two code-reviews were not clean, and nothing has changed since: what should happen?";
  assert.ok(shown.at(-1).startsWith(question), transcript());
  const states = JSON.parse(execFileSync("taskie", ["findings", "--json"], { cwd: project, encoding: "utf8" })).findings.map(({ state }) => state);
  assert.deepEqual(states, ["fixed", "rejected", "deferred", "open", "open"]);
}

// Each row is something that a session can do between two reviews, and what the user reads at the next stop.
async function tampered([folder]) {
  const own = (project, name) => path.join(project, ".taskie/plans/greeting", name);
  const state = (fields) => (project) => {
    const file = own(project, "state.json");
    fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, "utf8")), ...fields }));
  };
  const run = (...args) => (project) => execFileSync("taskie", args, { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  const edited = (what) => `state\\.json was changed outside taskie: ${what}\\.`;
  const ways = [
    [state({ consecutive_clean: 1 }), edited("consecutive_clean 0 → 1")],
    [run("skip"), "The code-review \\S+ was left without having passed \\(`taskie skip`\\)"],
    [run("pause"), "The code-review \\S+ was paused \\(`taskie pause`\\)"],
    [run("enter", "all-code-review", "--force"), "The code-review \\S+ was left without having passed \\(`taskie enter all-code-review --force`"],
    [state({ max_reviews: 0 }), edited("max_reviews 20 → 0")],
    [state({ phase: "complete", next_phase: null }), edited("phase post-code-review → complete, next_phase code-review → null")],
  ];
  for (const [at, [act, expected]] of ways.entries()) {
    const project = path.join(folder, `way ${at}`);
    const begun = { max_reviews: 20, current_task: "1", phase: "complete-task", phase_iteration: 0, next_phase: "code-review", review_model: "opus", consecutive_clean: 0, tdd: false };
    prepare(project, {
      ".taskie/plans/greeting/state.json": JSON.stringify(begun),
      ".taskie/plans/greeting/task-2.md": "# Greet again\n\n- **Status**: pending\n",
    });
    const agent = [
      bash("taskie next --plan greeting"),
      text("The code is written."),
      call("Write", { file_path: own(project, "task-1-post-review-1.md"), content: "Nothing to do.\n" }),
      bash("taskie enter post-code-review --plan greeting"),
      () => (act(project), text("The review is answered.")),
    ];
    const { printed, transcript } = await play("/taskie:continue-plan", project, agent, () => ({ verdict: "FAIL" }));
    assert.match(seen(printed).join("\n"), new RegExp(expected), transcript());
  }
}

async function restricted([project]) {
  const plan = ".taskie/plans/greeting";
  const outside = fs.mkdtempSync(path.join(require("node:os").tmpdir(), "outside-"));
  const files = {
    [`${plan}/plan.md`]: "## Overview\n\nA greeting.\n",
    [`${plan}/tasks.md`]: "| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | pending |\n",
    [`${plan}/task-1.md`]: "# Greet\n\n- **Status**: done\n- **Must-run commands**: `sh check.sh`, `sh check.sh twice`\n",
    [`${plan}/task-2.md`]: "# Greet again\n\n- **Status**: pending\n",
    [`${plan}/state.json`]: '{"max_reviews": 8, "current_task": "1", "phase": "complete-task", "phase_iteration": 0, "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false}\n',
    "check.sh": "echo checked\n",
    "CLAUDE.md": "Words of the project.\n",
    ".mcp.json": JSON.stringify({ mcpServers: { own: { command: "touch", args: [path.join(outside, "server")] } } }),
  };
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    fs.writeFileSync(path.join(project, name), content);
  }
  fs.writeFileSync(path.join(outside, "secret"), "a secret\n");
  fs.symlinkSync(path.join(outside, "secret"), path.join(project, "link"));
  execFileSync("git", ["init", "--quiet"], { cwd: project });
  const own = (name) => path.join(project, name);
  const works = true;
  const tries = [
    [works, call("Read", { file_path: own("check.sh") })],
    [works, bash("git status --short")],
    [works, bash("sh check.sh")],
    [works, bash("sh check.sh twice 2>&1 | tail -3")],
    [!works, bash("sh check.sh thrice")],
    [!works, bash("touch stolen")],
    [!works, bash(`cat ${path.join(outside, "secret")}`)],
    [!works, bash("echo stolen > check.sh")],
    [!works, bash("taskie enter post-code-review")],
    [!works, bash("curl --silent http://127.0.0.1:9")],
    [!works, call("Read", { file_path: path.join(outside, "secret") })],
    [!works, call("Read", { file_path: own("link") })],
    [!works, call("Grep", { pattern: "secret", path: outside, output_mode: "content" })],
    [!works, call("Write", { file_path: path.join(outside, "stolen"), content: "x" })],
    [!works, call("Write", { file_path: own(`${plan}/state.json`), content: "{}" })],
    [!works, call("Edit", { file_path: own("check.sh"), old_string: "checked", new_string: "stolen" })],
    [!works, call("WebFetch", { url: "http://127.0.0.1:9/", prompt: "x" })],
    [!works, call("Agent", { description: "x", prompt: "x", subagent_type: "general-purpose" })],
  ];
  const wrong = [];
  const model = await serve((asked) => {
    if (!isReviewer(asked)) return text("A title");
    const prompt = said(asked.messages);
    if (prompt.includes("Words of the project")) wrong.push("CLAUDE.md reached the model");
    const results = asked.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === "tool_result");
    const last = results.at(-1);
    const [isAllowed, tried] = tries[results.length - 1] ?? [];
    if (last && isAllowed !== undefined && isAllowed === Boolean(last.is_error)) {
      wrong.push(`${JSON.stringify(tried.input)} should ${isAllowed ? "work" : "be refused"}: ${said(last.content)}`);
    }
    const [, file] = /Write your review to (\S+\.md)/.exec(prompt);
    const rest = [call("Write", { file_path: own(file), content: "No issues.\n" }), call("StructuredOutput", { verdict: "PASS" })];
    return tries[results.length]?.[1] ?? rest[results.length - tries.length] ?? text("Done.");
  });
  // The model has to answer while the command runs.
  const run = (args, input) =>
    new Promise((done, failed) => {
      const env = { ...process.env, ANTHROPIC_BASE_URL: model.address, ANTHROPIC_API_KEY: "none" };
      const child = spawn("taskie", args, { cwd: project, env, stdio: ["pipe", "pipe", "inherit"] });
      let printed = "";
      child.stdout.on("data", (part) => (printed += part));
      child.on("error", failed);
      child.on("close", () => done(printed));
      // A command that reads no input may have ended.
      child.stdin.on("error", () => {});
      child.stdin.end(input);
    });
  const first = await run(["hook", "stop"], "{}");
  assert.match(first, /A code review \(iteration 1\) has been written/);
  fs.writeFileSync(own(`${plan}/task-1-post-review-1.md`), "# Answer\n");
  await run(["enter", "post-code-review"], "");
  const second = await run(["hook", "stop"], "{}");
  assert.match(second, /Code review passed\. .* \(Next: complete-task\./);
  model.close();
  assert.deepEqual(wrong, []);
  assert.deepEqual(fs.readdirSync(outside), ["secret"], "nothing was written outside");
  assert.equal(fs.readFileSync(own("check.sh"), "utf8"), files["check.sh"]);
  assert.ok(!fs.existsSync(own("stolen")));
}

// A change without a plan, reviewed as in CI: the reviewer sees the change and can run nothing else.
async function changed([project]) {
  const git = (...args) => execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], { cwd: project, encoding: "utf8" });
  git("init", "--quiet", "--initial-branch", "main");
  fs.writeFileSync(path.join(project, "greet.sh"), "echo hello\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "one");
  fs.writeFileSync(path.join(project, "greet.sh"), "echo helo\n");
  fs.writeFileSync(path.join(project, "new.txt"), "a new file\n");
  const answers = [
    { verdict: "FAIL", review: "It says helo.", findings: [{ severity: "major", file: "greet.sh", line: 1, title: "The greeting is misspelled" }] },
    { verdict: "PASS", review: "It greets.", findings: [] },
  ];
  const wrong = [];
  let answer;
  const model = await serve((asked) => {
    if (!isReviewer(asked)) return text("A title");
    const prompt = said(asked.messages);
    const [, diff] = /`(git --no-replace-objects diff --no-ext-diff --no-textconv [0-9a-f]+ [0-9a-f]+)` shows it/.exec(prompt);
    const tries = [bash(diff), bash("touch stolen"), bash(`${diff} --output=stolen`), bash("git log -1")];
    const results = asked.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === "tool_result");
    if (results.length === 1 && !said(results[0].content).includes("+a new file")) wrong.push(`the diff: ${said(results[0].content)}`);
    // The client itself lets commands run that it knows only read.
    if ([2, 3].includes(results.length) && !results.at(-1).is_error) wrong.push(`${JSON.stringify(tries[results.length - 1].input)} works`);
    return tries[results.length] ?? [call("StructuredOutput", answer)][results.length - tries.length] ?? text("Done.");
  });
  const review = () =>
    new Promise((done, failed) => {
      const env = { ...process.env, CI: "true", ANTHROPIC_BASE_URL: model.address, ANTHROPIC_API_KEY: "none" };
      const child = spawn("taskie", ["review", "--format", "github"], { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
      let printed = "";
      child.stdout.on("data", (part) => (printed += part));
      child.on("error", failed);
      child.on("close", (code) => done([code, printed]));
    });
  answer = answers[0];
  assert.deepEqual(await review(), [1, "::error file=greet.sh,line=1,title=major (change-1-review-1.1)::The greeting is misspelled\n"]);
  fs.writeFileSync(path.join(project, "greet.sh"), "echo hello there\n");
  answer = answers[1];
  assert.deepEqual(await review(), [0, ""]);
  model.close();
  assert.deepEqual(wrong, []);
  assert.equal(git("status", "--short"), " M greet.sh\n?? new.txt\n");
}

// A change without a plan, in a session that has asked for reviews: its stops are reviewed until one is clean, because the
// change is small, and then no more.
async function stopped([project]) {
  const git = (...args) => execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], { cwd: project, encoding: "utf8" });
  const file = path.join(project, "greet.sh");
  git("init", "--quiet", "--initial-branch", "main");
  fs.writeFileSync(file, "echo hello\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "one");
  fs.writeFileSync(file, "echo helo\n");
  const clean = { verdict: "PASS", review: "It greets.", findings: [] };
  const verdicts = [{ verdict: "FAIL", review: "It says helo.", findings: [{ severity: "major", file: "greet.sh", line: 1, title: "The greeting is misspelled" }] }, clean];
  const wrong = [];
  let reviews = 0;
  let heard = [];
  let asks = "";
  let steps = [
    () => bash(/taskie review --at-stop --session "[^"]+"/.exec(asks)?.[0] ?? `echo "${asks.slice(-900)}"`),
    text("Whatever has changed is reviewed now."),
    call("Read", { file_path: file }),
    call("Write", { file_path: file, content: "echo hello there\n" }),
    text("change-1-review-1.1: fixed"),
  ];
  const model = await serve((asked) => {
    if (isReviewer(asked)) {
      const prompt = said(asked.messages);
      const [, diff] = /`(git --no-replace-objects diff --no-ext-diff --no-textconv [0-9a-f]+ [0-9a-f]+)` shows it/.exec(prompt);
      const results = asked.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === "tool_result");
      if (results.length === 0) return bash(diff);
      if (results.length > 1) return text("Done.");
      if (!said(results[0].content).includes("-echo hello\n")) wrong.push(`the diff: ${said(results[0].content)}`);
      reviews += 1;
      if (reviews === 2 && !prompt.includes("change-1-review-1.1: fixed")) wrong.push("the agent's answer is not in the second prompt");
      return call("StructuredOutput", verdicts[reviews - 1] ?? clean);
    }
    if (!isAgent(asked)) return text("A title");
    asks = said(asked.messages);
    heard.push(said(asked.messages.at(-1)));
    const step = steps[heard.length - 1] ?? text("Nothing is left to do.");
    return typeof step === "function" ? step() : step;
  });
  const printed = await type("/taskie:review", project, model.address);
  const transcript = () => `${heard.map((text, n) => `${n}: ${text.slice(-400)}`).join("\n")}\n${printed}`;
  assert.deepEqual(wrong, [], transcript());
  assert.equal(reviews, 2, transcript());
  const ends = [/What has changed since HEAD, and what you still change/, /change-1-review-1.1 \(major, greet.sh:1\): The greeting is misspelled/];
  for (const end of ends) assert.ok(heard.some((text) => end.test(text)), `${end}\n${transcript()}`);
  assert.match(seen(printed).join("\n"), /^Stop says: The change is clean: read by sonnet/, transcript());
  // It is off again.
  fs.writeFileSync(file, "echo hello everybody\n");
  heard = [];
  steps = [];
  const again = await type("hi", project, model.address, ["--resume", JSON.parse(printed.split("\n")[0]).session_id, "--permission-mode", "acceptEdits"]);
  model.close();
  assert.deepEqual([reviews, seen(again)], [2, []]);
  assert.equal(git("status", "--short"), " M greet.sh\n");
  assert.equal(git("fsck", "--no-dangling"), "");
  assert.ok(!fs.existsSync(path.join(project, ".taskie")));
}

// `every_stop`: a question and documentation are read by nobody, a small change once, a large one twice, and one with a finding
// again until it is clean.
async function every([project]) {
  const git = (...args) => execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], { cwd: project, encoding: "utf8" });
  const settings = path.join(process.env.HOME, ".config/taskie/taskie.json");
  fs.mkdirSync(path.dirname(settings), { recursive: true });
  fs.writeFileSync(settings, '{ "every_stop": true }');
  const inside = (name) => path.join(project, name);
  git("init", "--quiet", "--initial-branch", "main");
  fs.writeFileSync(inside("greet.sh"), "echo hello\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "one");
  const lines = (count) => Array.from({ length: count }, (_, n) => `echo ${n}\n`).join("");
  const finding = { severity: "major", file: "greet.sh", line: 1, title: "The greeting is misspelled" };
  const verdicts = [];
  const reviewers = [];
  let steps = [];
  let heard = [];
  const model = await serve((asked) => {
    if (isReviewer(asked)) {
      const results = asked.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === "tool_result");
      if (results.length > 0) return text("Done.");
      reviewers.push(said(asked.messages));
      return call("StructuredOutput", verdicts.shift() ?? { verdict: "PASS", review: "It greets.", findings: [] });
    }
    if (!isAgent(asked)) return text("A title");
    heard.push(said(asked.messages.at(-1)));
    return steps[heard.length - 1] ?? text("Nothing is left to do.");
  });
  let session = [];
  const ask = async (prompt, agent, reviews) => {
    [steps, heard] = [agent, []];
    const before = reviewers.length;
    const printed = await type(prompt, project, model.address, ["--dangerously-skip-permissions", ...session]);
    session = ["--resume", JSON.parse(printed.split("\n")[0]).session_id];
    assert.equal(reviewers.length - before, reviews, `${prompt}\n${heard.map((text) => text.slice(-400)).join("\n")}\n${printed}`);
    return seen(printed).join("\n");
  };
  assert.equal(await ask("What is it?", [text("A greeting.")], 0), "");
  const write = (name, content) => call("Write", { file_path: inside(name), content });
  assert.equal(await ask("Document it", [write("README.md", "A greeting.\n")], 0), "");
  assert.match(await ask("Write a small one", [write("small.sh", lines(10))], 1), /^Stop says: The change is clean: read by opus/);
  assert.match(reviewers.at(-1), /Write a small one/, "the reviewer knows what the user asked for");
  assert.match(await ask("Write a large one", [write("large.sh", lines(420))], 2), /^Stop says: The change is clean, 2 reviews in a row/);
  verdicts.push({ verdict: "FAIL", review: "It says helo.", findings: [finding] });
  const fix = [call("Read", { file_path: inside("greet.sh") }), write("greet.sh", "echo helo\n"), text("Done."), write("greet.sh", "echo hello there\n"), text("change-1-review-1.1: fixed")];
  assert.match(await ask("Greet politely", fix, 2), /The change is clean/);
  assert.equal(await ask("And now?", [text("It is done.")], 0), "");
  model.close();
  assert.equal(git("status", "--short"), " M greet.sh\n?? README.md\n?? large.sh\n?? small.sh\n");
  assert.equal(git("fsck", "--no-dangling"), "");
  // The session has ended, so nothing that git does not have is left behind.
  const left = execFileSync("find", [inside(".git/taskie"), "-name", ".objects"], { encoding: "utf8" });
  assert.equal(left, "");
  fs.rmSync(settings);
}

// A whole plan after one prompt: two reviews find something, and the user is called once, at the end.
async function alone([project]) {
  execFileSync("git", ["init", "--quiet"], { cwd: project });
  const plan = path.join(project, ".taskie/plans/greeting");
  const write = (name, content) => call("Write", { file_path: path.join(plan, name), content });
  const code = (name) => call("Write", { file_path: path.join(project, name), content: "echo hello\n" });
  const table = (one, two) => `| Id | Status |\n|---|---|\n| 1 | ${one} |\n| 2 | ${two} |\n`;
  const enter = (phase) => bash(`taskie enter ${phase} --plan greeting`);
  const settings = { ask_after: [], clean: 1 };
  fs.mkdirSync(path.join(project, ".taskie"));
  fs.writeFileSync(path.join(project, ".taskie/config.json"), JSON.stringify(settings));
  execFileSync("taskie", ["config", "trust", "--yes"], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  const agent = [
    write("plan.md", "## Overview\n\nA greeting.\n"), enter("new-plan"), text("The plan is written."),
    write("plan-post-review-1.md", "plan-review-1.1: fixed\n"), enter("post-plan-review"), text("It is answered."),
    write("tasks.md", table("pending", "pending")), write("task-1.md", "# Greet\n"), write("task-2.md", "# Part\n"), enter("create-tasks"), text("The tasks are written."),
    code("1.sh"), write("tasks.md", table("done", "pending")), enter("complete-task --task 1"), text("The task is done."),
    write("task-1-post-review-1.md", "task-1-review-1.1: fixed\n"), enter("post-code-review"), text("It is answered."),
    code("2.sh"), write("tasks.md", table("done", "done")), enter("complete-task --task 2"), text("The task is done."),
    enter("complete"), text("All is done."),
  ];
  const reviews = [];
  const { heard, transcript } = await play("/taskie:new-plan Greet the user", project, agent, (_, file) => {
    const name = path.basename(file, ".md");
    reviews.push(name);
    const isFirst = /^(plan|task-1)-review-1$/.test(name);
    return isFirst ? { verdict: "FAIL", findings: [{ severity: "major", title: "It greets nobody" }] } : { verdict: "PASS", findings: [] };
  });
  assert.deepEqual(reviews.filter((name, n) => name !== reviews[n - 1]), ["plan-review-1", "plan-review-2", "tasks-review-1", "task-1-review-1", "task-1-review-2", "task-2-review-1", "all-code-review-1"], transcript());
  assert.equal(heard.length, agent.length, transcript());
  assert.equal(JSON.parse(fs.readFileSync(path.join(plan, "state.json"), "utf8")).phase, "complete", transcript());
  const kept = execFileSync("find", [path.join(project, ".taskie"), "-type", "f", "-printf", "%s %P\n"], { encoding: "utf8" });
  const bytes = kept.trim().split("\n").reduce((sum, line) => sum + parseInt(line, 10), 0);
  assert.ok(bytes <= 6 * 1024, kept);
  // What a command prints is a sentence, never the record.
  assert.ok(!heard.some((text) => /^\s*[[{]/m.test(text)), heard.join("\n"));
}

async function guarded([folder]) {
  const inside = (...names) => path.join(folder, ...names);
  const git = (project, ...args) =>
    execFileSync("git", ["-C", project, "-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], { stdio: "pipe" });
  const waiting = { max_reviews: 8, current_task: null, phase: "new-plan", phase_iteration: 0, next_phase: "plan-review", review_model: "opus", consecutive_clean: 0, tdd: false };
  const plan = (project, name, state) => {
    const dir = path.join(project, ".taskie/plans", name);
    fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(path.join(dir, "plan.md"), "## Overview\n\nA plan.\n");
    fs.writeFileSync(path.join(dir, "state.json"), JSON.stringify(state));
    return path.join(dir, "state.json");
  };
  const read = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

  // A reviewer that starts never gets an answer.
  let steps = [];
  let heard = "";
  let reviews = 0;
  const model = await serve((asked) => {
    if (isReviewer(asked)) {
      reviews += 1;
      return null;
    }
    if (!isAgent(asked)) return text("A title");
    heard = said([asked.system, asked.messages]);
    return steps.shift() ?? text("Done.");
  });
  const free = ["--dangerously-skip-permissions"];
  const run = (prompt, project, options = free) => type(prompt, project, model.address, options);

  // A repository contains a plan with a due review, and a chart that runs whatever it likes.
  const theirs = inside("theirs");
  fs.mkdirSync(theirs);
  git(theirs, "init", "--quiet");
  plan(theirs, "theirs", waiting);
  const bad = `id="bad"\ninitial="a"\nstate="phase"\n[scope]\nhome=".taskie"\n[context.phase]\ntype="phase"\n[phases.a]\n[[on.SessionStart]]\nsay="obey"\n[[on.Stop]]\nblock="obey"\n`;
  fs.writeFileSync(path.join(theirs, ".taskie/statechart.toml"), bad);
  git(theirs, "add", ".");
  git(theirs, "commit", "--quiet", "-m", "A plan");
  const clone = inside("clone");
  git(folder, "clone", "--quiet", theirs, clone);
  const cloned = await run("hi", clone);
  const waits = "Stop says: Plan 'theirs' waits for its plan-review, but this session has not taken it up: /taskie:continue-plan";
  assert.deepEqual([reviews, seen(cloned)], [0, [waits]], "a clone starts no reviewer");
  assert.match(heard, /\[taskie\] Plan 'theirs' is waiting: plan-review comes next. \/taskie:continue-plan continues it./);
  assert.doesNotMatch(heard, /obey/);

  // A session with a plan of its own pulls that one, and looks into a dependency.
  const own = inside("own");
  fs.mkdirSync(own);
  git(own, "init", "--quiet");
  const mine = plan(own, "mine", { ...waiting, phase: "continue-task", next_phase: null });
  plan(path.join(own, "node_modules/evil"), "evil", waiting);
  steps = [bash("taskie next --plan mine"), bash(`git pull --quiet "${theirs}" HEAD && touch .taskie/plans/theirs/plan.md`), bash("cd node_modules/evil")];
  const printed = await run("hi", own);
  assert.equal(reviews, 0, "neither a pulled plan nor a dependency's starts a reviewer");
  assert.deepEqual(read(path.join(own, ".taskie/plans/theirs/state.json")), waiting);
  const ignored = ".taskie/statechart.toml is ignored: it is not a chart that you have trusted; run `taskie config trust`.";
  assert.deepEqual(seen(printed), [`Stop says: ${ignored}`], printed);

  // Its review is due in plan mode; then it leaves plan mode, and is killed while the reviewer works.
  const again = ["--resume", JSON.parse(printed.split("\n")[0]).session_id];
  fs.writeFileSync(mine, JSON.stringify(waiting));
  const planned = await run("hi", own, [...again, "--permission-mode", "plan"]);
  assert.deepEqual([reviews, seen(planned)], [0, [`Stop says: ${ignored}`, "Stop says: The plan-review is due and waits until plan mode ends."]]);
  const client = start("hi", own, model.address, [...again, ...free]);
  const until = async (what, seconds, is) => {
    for (const end = Date.now() + 1000 * seconds; !is(); await new Promise((later) => setTimeout(later, 50))) {
      if (Date.now() >= end) assert.fail(what());
    }
  };
  await until(() => "no reviewer was started", 60, () => reviews > 0);
  const left = () =>
    fs.readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && Number(pid) !== process.pid && fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes(`=${model.address}\0`);
      } catch {
        return false;
      }
    });
  assert.ok(left().length > 1, "the client and its reviewer run");
  client.kill("SIGKILL");
  // They have a second; the other one is for a busy machine, on which each of these processes waits for its turn.
  const shown = (pid) => {
    try {
      return `${pid} ${fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 120)}`;
    } catch {
      return `${pid} (ended since)`;
    }
  };
  await until(() => `still alive:\n${left().map(shown).join("\n")}`, 2, () => left().length === 0);
  assert.deepEqual(read(mine), waiting);
  model.close();
}

const [mode, ...args] = process.argv.slice(2);
({ typed, played, alone, gated, converged, tampered, restricted, changed, stopped, every, guarded })[mode](args).catch((error) => {
  console.error(error.message);
  // Anything that still listens would keep this process alive.
  process.exit(1);
});
