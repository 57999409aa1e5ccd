/** A schema that is not accepted. Thrown and caught inside this folder only; the port answers with a value. */
export class SchemaProblem extends Error {
  constructor(pointer: string, problem: string) {
    super(`at ${pointer === '' ? 'the top' : pointer}: ${problem}`);
    this.name = 'SchemaProblem';
  }
}
