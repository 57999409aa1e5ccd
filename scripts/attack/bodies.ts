import type { SeededRandom } from '../chaos/seeded-random.ts';
import { ROUTES } from '../../packages/patchboard/src/wiring/apis.ts';
import { eachOf, type Battery } from './battery.ts';
import { faultProblem } from './target.ts';

const SHORT = 300;
const LONG = 9000;
const ID = 'tc_00000000000000000000000000';

/** Bodies generated from each route's schema and then mutated: every response must be a documented one. */
export const fuzzedBodies: Battery = async (target, tally, { isShort, random }) => {
  const routes = ROUTES.filter((route) => route.body !== undefined && route.method !== 'GET');
  const attempts = Array.from({ length: isShort ? SHORT : LONG }, (_, index) => {
    const route = routes[index % routes.length];
    if (route === undefined) throw new Error('no route takes a body');
    return {
      route,
      text: brokenBody(route.body, random.fork()),
      holder: random.pick(['agent', 'client', 'rival']),
    };
  });
  await eachOf(attempts, 16, async ({ route, text, holder }) => {
    const path = route.url.replaceAll(/:[a-z_]+/g, ID);
    const headers = random.chance(0.3) ? target.operator : (target.credentials[holder] ?? {});
    // Without a credential: revoking the operator's key or ending its session would end the battery.
    const isHarmful = route.name === 'revokeKey' || route.name === 'deleteKey';
    const response = await target.send(path, {
      method: route.method,
      headers: isHarmful ? {} : headers,
      body: text,
    });
    tally.record(
      String(response.status),
      faultProblem(`${route.method} ${path} ${text.slice(0, 120)}`, response),
    );
  });
};

function brokenBody(schema: unknown, random: SeededRandom): string {
  const value = valueOf(schema, random, 0);
  const text = JSON.stringify(value) ?? 'null';
  switch (random.between(0, 9)) {
    case 0:
      return text.slice(0, random.between(0, text.length));
    case 1:
      return text.replace('{', '{"__proto__":{"x":1},');
    case 2:
      return text.replace('{', '{"a":1,"a":2,');
    case 3:
      return '['.repeat(random.between(1, 20_000));
    case 4:
      return `${text}${text}`;
    case 5:
      return text.replaceAll(/"[^"]*"/g, () => `"\\ud800${'x'.repeat(random.between(0, 300))}"`);
    case 6:
      return text.replaceAll(/\d+/g, () => random.pick(['1e400', '-0', '9007199254740993', '01', 'NaN']));
    case 7:
      return `\ufeff${text}`;
    default:
      return text;
  }
}

const ODD: readonly unknown[] = [
  null,
  true,
  '',
  'x'.repeat(5000),
  '\u0000',
  '\u202eevil',
  -1,
  1e308,
  0.1,
  [],
  [[[[]]]],
  {},
  { constructor: { prototype: {} } },
  ['a', 1, null],
  '../../etc/passwd',
  "' or 1=1 --",
  '<script>alert(1)</script>',
];

/** A value that mostly matches the schema, with some unusual parts. */
function valueOf(schema: unknown, random: SeededRandom, depth: number): unknown {
  if (depth > 6 || typeof schema !== 'object' || schema === null || random.chance(0.15))
    return random.pick(ODD);
  const {
    type,
    properties,
    items,
    enum: values,
    anyOf,
  } = schema as {
    type?: string | readonly string[];
    properties?: Readonly<Record<string, unknown>>;
    items?: unknown;
    enum?: readonly unknown[];
    anyOf?: readonly unknown[];
  };
  if (values !== undefined) return random.pick(values);
  if (anyOf !== undefined) return valueOf(random.pick(anyOf), random, depth + 1);
  if (properties !== undefined) {
    const members = Object.entries(properties)
      .filter(() => random.chance(0.9))
      .map(([name, member]) => [name, valueOf(member, random, depth + 1)]);
    if (random.chance(0.1))
      members.push([random.pick(['extra', 'constructor', '$ref', '']), random.pick(ODD)]);
    return Object.fromEntries(members);
  }
  switch (typeof type === 'string' ? type : type?.[0]) {
    case 'string':
      return random.pick(['x', 'weather.query', 'run_1', '2030-01-01T00:00:00Z', 'phone']);
    case 'integer':
    case 'number':
      return random.pick([0, 1, 7, 10_000]);
    case 'boolean':
      return random.chance(0.5);
    case 'array':
      return Array.from({ length: random.between(0, 4) }, () => valueOf(items, random, depth + 1));
    default:
      return random.pick(ODD);
  }
}
