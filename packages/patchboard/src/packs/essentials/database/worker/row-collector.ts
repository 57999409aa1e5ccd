import type { QueryLimits, QueryRows } from './protocol.ts';

/** Keeps rows up to the row and byte limits, so that a large result is never in memory as a whole. */
export class RowCollector {
  readonly #limits: QueryLimits;
  readonly #rows: unknown[][] = [];
  #bytes = 0;
  #truncated = false;

  constructor(limits: QueryLimits) {
    this.#limits = limits;
  }

  /** Returns false if the row does not fit; no more rows should be read then. */
  add(values: readonly unknown[]): boolean {
    const row = values.map(toJsonValue);
    this.#bytes += Buffer.byteLength(JSON.stringify(row));
    if (this.#rows.length >= this.#limits.maxRows || this.#bytes > this.#limits.maxBytes) {
      this.#truncated = true;
      return false;
    }
    this.#rows.push(row);
    return true;
  }

  result(columns: readonly string[]): QueryRows {
    return { kind: 'rows', columns, rows: this.#rows, truncated: this.#truncated };
  }
}

/** Converts values that JSON cannot represent exactly to text: large integers, infinities, and bytes as base64. */
function toJsonValue(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
        ? Number(value)
        : String(value);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'object':
      if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
      return Array.isArray(value) ? value.map(toJsonValue) : value;
    case 'undefined':
      return null;
    default:
      return value;
  }
}
