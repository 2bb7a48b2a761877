// Reads events, a JSON object a line, and holds each against the schemas of the AG-UI protocol. Prints what does not fit.
const { readFileSync } = require("node:fs");
const { EventSchemas } = require("@ag-ui/core/schemas");

// Where Bureau departs from the protocol, knowingly: usage is one object for a run with all below it, where the protocol has a
// list with an entry for each model.
function asProtocol(event) {
  const { usage, ...rest } = event;
  return rest;
}

let checked = 0;
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const result = EventSchemas.safeParse(asProtocol(JSON.parse(line)));
  if (!result.success) {
    console.error(line, JSON.stringify(result.error.issues));
    process.exitCode = 1;
  }
  checked++;
}
console.log(checked);
