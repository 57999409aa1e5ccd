/** A schema that is not accepted. Thrown and caught inside this folder only; the port answers with a value. */
export class SchemaProblem extends Error {
  constructor(pointer: string, problem: string) {
    super(`at ${pointer === '' ? 'the top' : pointer}: ${problem}`);
    this.name = 'SchemaProblem';
  }
}

/** One more step of a JSON pointer. */
export function pointerTo(parent: string, key: string | number): string {
  // Nearly no key needs it, and every one of a schema passes here.
  const isPlain = typeof key === 'number' || !/[~/]/.test(key);
  return `${parent}/${isPlain ? key : key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
