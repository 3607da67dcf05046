// Opens a state file as VS Code does, with its own JSON service and .vscode/settings.json, and prints what it finds.
//   node json-service.js NODE_MODULES FILE
// A file that names no `$schema` is opened as the state of a plan, so that the settings have to find its schema.
const fs = require("node:fs");
const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

const [modules, file] = process.argv.slice(2);
const { getLanguageService, TextDocument } = require(path.resolve(modules, "vscode-json-languageservice"));

const service = getLanguageService({
  schemaRequestService: async (uri) => fs.readFileSync(fileURLToPath(uri), "utf8"),
  workspaceContext: { resolveRelativePath: (relative, base) => new URL(relative, base).href },
});
const settings = JSON.parse(fs.readFileSync(".vscode/settings.json", "utf8"));
const schemas = settings["json.schemas"].map(({ fileMatch, url }) => ({ fileMatch, uri: pathToFileURL(url).href }));
service.configure({ schemas });

const text = fs.readFileSync(file, "utf8");
const opened = text.includes('"$schema"') ? file : ".taskie/plans/sample/state.json";
const document = TextDocument.create(pathToFileURL(opened).href, "json", 1, text);
service.doValidation(document, service.parseJSONDocument(document)).then((findings) => {
  for (const { range, message } of findings) {
    console.log(`line ${range.start.line + 1}: ${text.split("\n")[range.start.line].trim()}\n  ${message}`);
  }
  process.exitCode = findings.length ? 1 : 0;
});
