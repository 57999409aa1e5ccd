/** The oldest major version of Node that has everything this package uses. */
const NEEDED = 24;

// Imported before everything else, so that an older Node gets this line and not the first thing it does not know.
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED) {
  const error = new Error(`patchboard needs Node ${NEEDED} or newer; this is Node ${process.versions.node}`);
  // Where it was thrown says nothing that the line does not say.
  error.stack = `Error: ${error.message}`;
  throw error;
}
