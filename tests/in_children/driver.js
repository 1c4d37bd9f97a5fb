// Drives browsers for many that ask, each as if by a program of its own: driver.js PACKAGE SOCKET.
//
// Whoever asks does so over a connection, on which each message is its length (four bytes, the
// lowest first) and JSON. Browsers end with the connection over which they were started, and all of
// it with the standard input.
"use strict";
const net = require("net");
const [home, path] = process.argv.slice(2);
require(`${home}/lib/bootstrap`);
const { server } = require(`${home}/lib/coreBundle`);

function serve(socket) {
  const dispatching = new server.DispatcherConnection();
  let playwright = null;
  let written = undefined;
  new server.RootDispatcher(dispatching, async (scope, { sdkLanguage, supportsLoneSurrogates }) => {
    if (!supportsLoneSurrogates) {
      written = (_, value) => (typeof value === "string" ? value.toWellFormed() : value);
    }
    playwright = server.createPlaywright({ sdkLanguage, isClientCollocatedWithServer: true });
    return new server.PlaywrightDispatcher(scope, playwright);
  });
  dispatching.onmessage = (message) => {
    const said = Buffer.from(JSON.stringify(message, written));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(said.length);
    socket.write(length);
    socket.write(said);
  };
  let heard = Buffer.alloc(0);
  socket.on("data", (more) => {
    heard = Buffer.concat([heard, more]);
    while (heard.length >= 4 && heard.length >= 4 + heard.readUInt32LE()) {
      const end = 4 + heard.readUInt32LE();
      const message = JSON.parse(heard.subarray(4, end).toString());
      heard = heard.subarray(end);
      setImmediate(() => dispatching.dispatch(message));
    }
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    dispatching.onmessage = () => {};
    for (const each of playwright ? playwright.allBrowsers() : []) {
      each.close({ reason: "nobody asks any more" }).catch(() => {});
    }
  });
}

net.createServer(serve).listen(path, () => console.log("It listens."));
process.stdin.on("close", () => process.exit(0)).resume();
