/**
 * PostgreSQL arrays in their binary format, for parameters of `unnest`: nothing is escaped by one side and unescaped by the
 * other. Format: dimensions, flag for nulls, element type; then length and lower bound; then each element with its length.
 */
const TEXT = 25;
const INT8 = 20;
const INT4 = 23;
const BYTEA = 17;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const TWO_TO_32 = 4_294_967_296;

export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = HEADER_BYTES;
  const lengths = values.map((value) => {
    const length = value === null ? NULL_LENGTH : Buffer.byteLength(value);
    bytes += LENGTH_BYTES + Math.max(0, length);
    return length;
  });
  const array = Buffer.allocUnsafe(bytes);
  let at = writeHeader(array, TEXT, values.length, lengths.includes(NULL_LENGTH));
  for (const [index, value] of values.entries()) {
    at = array.writeInt32BE(lengths[index] ?? NULL_LENGTH, at);
    if (value !== null) at += array.write(value, at, 'utf8');
  }
  return array;
}

/** Takes safe integers only. Throws for a number that is out of range. */
export function int8Array(values: readonly (number | null)[]): Buffer {
  const nulls = values.reduce<number>((count, value) => count + (value === null ? 1 : 0), 0);
  const array = Buffer.allocUnsafe(HEADER_BYTES + values.length * (LENGTH_BYTES + 8) - nulls * 8);
  let at = writeHeader(array, INT8, values.length, nulls > 0);
  for (const value of values) {
    if (value === null) {
      at = array.writeInt32BE(NULL_LENGTH, at);
      continue;
    }
    if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
      throw new RangeError(`the number ${value} is out of range`);
    at = array.writeInt32BE(8, at);
    // Two 32-bit halves are faster than a BigInt.
    at = array.writeInt32BE(Math.floor(value / TWO_TO_32), at);
    at = array.writeUInt32BE(((value % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, at);
  }
  return array;
}

export function int4Array(values: readonly number[]): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + values.length * (LENGTH_BYTES + 4));
  let at = writeHeader(array, INT4, values.length, false);
  for (const value of values) {
    at = array.writeInt32BE(4, at);
    at = array.writeInt32BE(value, at);
  }
  return array;
}

export function byteaArray(values: readonly Buffer[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + LENGTH_BYTES + value.length, HEADER_BYTES);
  const array = Buffer.allocUnsafe(bytes);
  let at = writeHeader(array, BYTEA, values.length, false);
  for (const value of values) {
    at = array.writeInt32BE(value.length, at);
    at += value.copy(array, at);
  }
  return array;
}

/** An array without elements has one dimension of length 0, which PostgreSQL accepts too. */
function writeHeader(array: Buffer, type: number, length: number, hasNulls: boolean): number {
  array.writeInt32BE(1, 0);
  array.writeInt32BE(hasNulls ? 1 : 0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(length, 12);
  return array.writeInt32BE(1, 16);
}
