/** Writes a line to stderr; stdout carries the protocol only. */
export function note(text) {
  process.stderr.write(`patchboard mcp: ${text}\n`);
}

/** Reports a rejection of work that nothing awaits. */
export function inBackground(work) {
  work.catch((error) => note(String(error?.stack ?? error)));
}

/** Hides the warning of Node 18 that `fetch` is experimental; other warnings are printed. */
export function hideExperimentalWarnings() {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    if (rest[0] !== 'ExperimentalWarning' && rest[0]?.type !== 'ExperimentalWarning')
      emitWarning(warning, ...rest);
  };
}
