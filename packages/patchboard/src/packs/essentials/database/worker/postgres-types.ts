import pg from 'pg';

/** Turns the text of a value into what the result contains. */
export type Parse = (text: string) => unknown;

const asIs: Parse = (text) => text;
const BOOLEAN = 16;
const BOX = 603;

/**
 * By type id. Values of other types stay text: also times, because a `Date` made from a timestamp without time zone would
 * depend on the time zone of this machine.
 */
const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [BOOLEAN, (text) => text === 't'],
  [17, (text) => Buffer.from(text.slice(2), 'hex')], // bytea
  [20, (text) => BigInt(text)], // int8
  ...[21, 23, 26, 700, 701].map((id): [number, Parse] => [id, Number]), // int2, int4, oid, float4, float8
  ...[114, 3802].map((id): [number, Parse] => [id, (text) => JSON.parse(text) as unknown]), // json, jsonb
]);

/** The driver's types declare a function in its place. */
const ARRAYS = pg.types.arrayParser as unknown as {
  create(text: string, parse: Parse): { parse(): unknown[] };
};

/** Returns the parser of a type. `arrays`: the id of the element type by the id of the array type, as in `pg_type`. */
export function parserOf(id: number, arrays: Readonly<Record<number, number>>): Parse {
  const element = arrays[id];
  if (element === undefined) return PARSERS.get(id) ?? asIs;
  // The only type whose values in an array are not separated by commas.
  if (element === BOX) return (text) => text.slice(1, -1).split(';');
  const parse = PARSERS.get(element) ?? asIs;
  return (text) => ARRAYS.create(text, parse).parse();
}

/** The type ids of parameters; the server infers the type of those with 0. A boolean would become text. */
export function parameterTypes(params: readonly unknown[]): number[] {
  return params.map((param) => (typeof param === 'boolean' ? BOOLEAN : 0));
}
