import { expectTypeOf } from 'vitest';
import { type RequestWith, route, type Route, type ValueOf } from './routes.ts';
import { ANY, COUNT, enumOf, FLAG, listOf, mapOf, nullable, object, optional, TEXT } from './schemas.ts';

// A building block carries the type of what it accepts, also when it gets a description.
const BODY = object(
  {
    name: { ...TEXT, description: 'of the tool' },
    kind: enumOf(['a', 'b']),
    counts: listOf({ ...COUNT, minimum: 1 }),
    flags: mapOf(FLAG),
    note: nullable(TEXT),
    anything: ANY,
    other: { type: 'integer' },
  },
  ['kind', 'note'],
);
expectTypeOf<ValueOf<typeof BODY>>().branded.toEqualTypeOf<{
  readonly name: string;
  readonly kind?: 'a' | 'b';
  readonly counts: readonly number[];
  readonly flags: Readonly<Record<string, boolean>>;
  readonly note?: string | null;
  readonly anything: unknown;
  readonly other: unknown;
}>();

const rest: Omit<Route, 'handle'> = {
  method: 'POST',
  url: '/test/:id',
  name: 'test',
  api: 'agent',
  summary: '',
  scope: null,
  responses: {},
  refusals: [],
};

// A handler gets the parts that have a schema. A body without required properties may be omitted.
route({
  ...rest,
  params: object({ id: TEXT }),
  query: optional({ limit: COUNT }),
  body: optional({ note: TEXT }),
  handle: (_context, { params, query, body }) => {
    expectTypeOf(params.id).toEqualTypeOf<string>();
    expectTypeOf(query.limit).toEqualTypeOf<number | undefined>();
    expectTypeOf(body?.note).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: the body may be absent.
    expectTypeOf(body.note);
    return undefined;
  },
});

const byLimit = (_context: unknown, _request: RequestWith<{ query: { limit: number } }>): undefined =>
  undefined;

route({ ...rest, query: object({ limit: COUNT }), handle: byLimit });
// @ts-expect-error: the schema does not require the parameter.
route({ ...rest, query: optional({ limit: COUNT }), handle: byLimit });
// @ts-expect-error: the schema accepts another type.
route({ ...rest, query: object({ limit: TEXT }), handle: byLimit });
// @ts-expect-error: no schema validates the query.
route({ ...rest, handle: byLimit });
// @ts-expect-error: without `route` no handler may read a part.
export const untyped: Route = { ...rest, query: object({ limit: COUNT }), handle: byLimit };
