/** Where the command line asks when it is not told otherwise. */
const USUAL: readonly string[] = ['http://127.0.0.1:8080', 'http://localhost:8080'];
const THIS_MACHINE: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** A command as it is typed to reach the server at `origin`. */
export function commandFor(words: string, origin: string = location.origin): string {
  return `npx patchboard ${words}${USUAL.includes(origin) ? '' : ` --url ${origin}`}`;
}

/** One for operators. It is typed on the machine of the server: their token is shown to no other. */
export function operatorCommandFor(words: string, origin: string = location.origin): string {
  const isHere = THIS_MACHINE.includes(new URL(origin).hostname);
  return isHere ? commandFor(words, origin) : `npx patchboard ${words}`;
}

/** A call that every server can run. */
export const FIRST_CALL = "call calculation.eval expression='(3+4)*6'";
