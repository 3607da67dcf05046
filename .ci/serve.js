// A web server on loopback for the files of a folder: node serve.js FOLDER PORT_FILE. It writes its port into PORT_FILE.
const fs = require("node:fs");
const http = require("node:http");

const [folder, portFile] = process.argv.slice(2);
const server = http.createServer((request, response) => {
  const file = fs.createReadStream(folder + new URL(request.url, "http://loopback").pathname);
  file.on("error", () => response.writeHead(404).end()).pipe(response);
});
server.listen(0, "127.0.0.1", () => fs.writeFileSync(portFile, String(server.address().port)));
