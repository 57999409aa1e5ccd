/** Thrown for a schema that is not accepted, and caught inside this folder: the port returns the problem instead. */
export class SchemaProblem extends Error {
  constructor(pointer: string, problem: string) {
    super(`at ${pointer === '' ? 'the top' : pointer}: ${problem}`);
    this.name = 'SchemaProblem';
  }
}
