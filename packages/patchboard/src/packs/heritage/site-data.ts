import type { InputIssueView } from '@patchboard/wire';
import { compileSchema, extraMemberOf, isRecord, pointerTo, TRUSTED_RULES } from '@patchboard/wire/json';
import { PROMPT_TYPES, type SiteData } from './records.ts';

interface SiteDataProblem {
  /** JSON pointer. */
  readonly path: string;
  readonly message: string;
}

export type DecodedSite =
  | { readonly ok: true; readonly data: SiteData }
  | { readonly ok: false; readonly problems: readonly SiteDataProblem[] };

type Schema = Readonly<Record<string, unknown>>;

const ID: Schema = { type: 'string', minLength: 1, maxLength: 100, pattern: '\\S' };
const TEXT: Schema = { type: 'string', minLength: 1 };
const VERSION: Schema = { type: 'integer', minimum: 1, maximum: 1_000_000, default: 1 };
const texts = (): Schema => ({ type: 'array', items: { type: 'string' }, default: [] });
const orNull = (type: string, more: Schema = {}): Schema => ({
  type: [type, 'null'],
  default: null,
  ...more,
});

/** Members with a default are optional. */
function record(properties: Readonly<Record<string, Schema>>): Schema {
  const required = Object.keys(properties).filter(
    (name) => !Object.hasOwn(properties[name] ?? {}, 'default'),
  );
  return { type: 'object', additionalProperties: false, properties, required };
}

function schemaFor(now: string): Schema {
  const list = (items: Schema): Schema => ({ type: 'array', items, default: [] });
  return record({
    site_name: TEXT,
    contents: list(
      record({
        id: ID,
        content_type: ID,
        title: TEXT,
        body: TEXT,
        summary: orNull('string'),
        tags: texts(),
        domains: texts(),
        source: orNull('string'),
        credibility_score: orNull('number', { minimum: 0, maximum: 1 }),
        verified: { type: 'boolean', default: false },
        status: { ...ID, default: 'published' },
        created_at: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$', default: now },
      }),
    ),
    npcs: list(
      record({
        npc_id: ID,
        version: VERSION,
        active: { type: 'boolean', default: true },
        name: TEXT,
        persona: { type: 'object', default: {} },
        knowledge_domains: texts(),
        greeting_templates: texts(),
        max_response_length: { type: 'integer', minimum: 1, default: 500 },
        must_cite_sources: { type: 'boolean', default: false },
      }),
    ),
    prompts: list(
      record({
        npc_id: ID,
        prompt_type: { enum: PROMPT_TYPES },
        version: VERSION,
        active: { type: 'boolean', default: true },
        prompt_text: TEXT,
      }),
    ),
    pois: list(
      record({
        id: ID,
        name: TEXT,
        type: ID,
        description: orNull('string'),
        latitude: orNull('number', { minimum: -90, maximum: 90 }),
        longitude: orNull('number', { minimum: -180, maximum: 180 }),
      }),
    ),
    routes: list(
      record({
        id: ID,
        name: TEXT,
        description: orNull('string'),
        duration_minutes: orNull('integer', { minimum: 1 }),
        poi_ids: texts(),
      }),
    ),
  });
}

/** Validates the data of a site and fills in defaults. `now` (RFC 3339) is the default of `created_at`. */
export function decodeSiteData(value: unknown, now: string): DecodedSite {
  const schema = schemaFor(now);
  const data = structuredClone(value);
  const issues = compileSchema(schema, TRUSTED_RULES)(data);
  if (issues !== null) return { ok: false, problems: issues.map(problemOf) };
  fillIn(schema, data);
  const problems = [...duplicatesIn(data as SiteData)];
  return problems.length === 0 ? { ok: true, data: data as SiteData } : { ok: false, problems };
}

function problemOf(issue: InputIssueView): SiteDataProblem {
  const { path, message } = issue;
  const extra = extraMemberOf(issue);
  return extra === undefined
    ? { path, message }
    : { path: pointerTo(path, extra), message: 'is not known here' };
}

/** Adds the members with a default that a valid value does not have. */
function fillIn({ properties, items }: Schema, value: unknown): void {
  if (Array.isArray(value) && isRecord(items)) for (const item of value) fillIn(items, item);
  if (!isRecord(value) || !isRecord(properties)) return;
  for (const [name, member] of Object.entries(properties as Readonly<Record<string, Schema>>)) {
    if (value[name] === undefined && 'default' in member) value[name] = structuredClone(member['default']);
    else fillIn(member, value[name]);
  }
}

/** Yields a problem for each duplicate id and for each second active version. */
function* duplicatesIn({ contents, npcs, prompts, pois, routes }: SiteData): Generator<SiteDataProblem> {
  yield* duplicates('contents', contents, ({ id }) => id);
  yield* duplicates('pois', pois, ({ id }) => id);
  yield* duplicates('routes', routes, ({ id }) => id);
  yield* duplicates('npcs', npcs, ({ npc_id: id, version }) => `${id} version ${version}`);
  yield* duplicates('npcs', npcs, ({ npc_id: id, active }) => (active ? `an active ${id}` : null));
  const named = ({ npc_id: id, prompt_type: type }: (typeof prompts)[number]): string => `${id} ${type}`;
  yield* duplicates('prompts', prompts, (prompt) => `${named(prompt)} version ${prompt.version}`);
  yield* duplicates('prompts', prompts, (prompt) => (prompt.active ? `an active ${named(prompt)}` : null));
}

function* duplicates<Item>(
  list: string,
  items: readonly Item[],
  nameOf: (item: Item) => string | null,
): Generator<SiteDataProblem> {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const name = nameOf(item);
    if (name === null) continue;
    if (seen.has(name)) yield { path: `/${list}/${index}`, message: `is a duplicate: ${name}` };
    seen.add(name);
  }
}
