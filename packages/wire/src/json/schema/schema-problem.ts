import { reason, reasonText, type Reason } from '../../reasons/reason-text.ts';

/** Thrown for a schema that is not accepted, and caught inside this folder: the port returns the problem instead. */
export class SchemaProblem extends Error {
  readonly reason: Reason;

  constructor(pointer: string, why: Reason) {
    const problem = [why];
    const placed =
      pointer === '' ? reason('schema_at_top', { problem }) : reason('schema_at', { pointer, problem });
    super(reasonText(placed));
    this.name = 'SchemaProblem';
    this.reason = placed;
  }
}
