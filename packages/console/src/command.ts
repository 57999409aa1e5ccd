/** The default server of the command line. */
const USUAL: readonly string[] = ['http://127.0.0.1:8080', 'http://localhost:8080'];
const THIS_MACHINE: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Returns the command with the options needed to reach the server at `origin`. */
export function commandFor(words: string, origin: string = location.origin): string {
  return `npx patchboard ${words}${USUAL.includes(origin) ? '' : ` --url ${origin}`}`;
}

/** The same for an operator's command. It runs on the server's machine, where the operator token is. */
export function operatorCommandFor(words: string, origin: string = location.origin): string {
  const isHere = THIS_MACHINE.includes(new URL(origin).hostname);
  return isHere ? commandFor(words, origin) : `npx patchboard ${words}`;
}

/** A call that works on every server. */
export const FIRST_CALL = "call calculation.eval expression='(3+4)*6'";
