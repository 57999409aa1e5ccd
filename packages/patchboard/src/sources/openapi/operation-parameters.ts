import { reason, WIRE_LIMITS } from '@patchboard/wire';
import { isRecord, type JsonObject } from '@patchboard/wire/json';
import type { ListedOperation } from './operation-list.ts';
import { OperationProblem } from './operation-problem.ts';
import type { OperationParameter } from './operation.ts';
import type { Description } from './read-description.ts';
import { notesOf } from './schema-notes.ts';

type Place = OperationParameter['in'];

const PLACES: ReadonlySet<unknown> = new Set<Place>(['path', 'query', 'header', 'cookie']);
/** OpenAPI: a parameter with one of these names is ignored. The request sets them itself. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);

/** A parameter before it has the name of its argument. */
export interface DescribedParameter extends Omit<OperationParameter, 'argument'> {
  readonly required: boolean;
  readonly schema: unknown;
  readonly notes: JsonObject;
}

/**
 * Returns the parameters of an operation and of its path. A placeholder of the path that no parameter describes is a
 * string. Throws an `OperationProblem`.
 */
export function parametersOf(
  { operation, pathItem, path }: ListedOperation,
  description: Description,
): readonly DescribedParameter[] {
  const placeholders = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? ''));
  const found = new Map<string, DescribedParameter>();
  // Those of the operation come last and replace those of the path.
  for (const [place, holder] of [
    ['path item', pathItem],
    ['operation', operation],
  ] as const) {
    for (const given of listOf(holder['parameters'], place)) {
      const parameter = parameterOf(description.references.follow(given));
      if (parameter !== null) found.set(keyOf(parameter), parameter);
    }
  }
  const inTemplate = [...found.values()].filter((one) => one.in !== 'path' || placeholders.has(one.name));
  const described = new Set(inTemplate.filter((one) => one.in === 'path').map(({ name }) => name));
  const missing = [...placeholders].filter((name) => !described.has(name)).map(undescribed);
  const parameters = [...missing, ...inTemplate];
  const count = WIRE_LIMITS.schemaProperties;
  if (parameters.length > count) throw new OperationProblem(reason('schema_many_properties', { count }));
  return parameters;
}

function listOf(parameters: unknown, place: string): readonly unknown[] {
  if (parameters === undefined || parameters === null) return [];
  if (Array.isArray(parameters)) return parameters;
  throw invalid(`parameters of the ${place}`);
}

/** Returns null for a parameter that OpenAPI ignores. */
function parameterOf(given: unknown): DescribedParameter | null {
  if (!isRecord(given)) throw invalid('a parameter');
  const { name, in: place, required, style, explode, allowReserved } = given;
  if (typeof name !== 'string' || name === '') throw invalid('the name of a parameter');
  if (!PLACES.has(place)) throw invalid(`\`in\` of the parameter ${name}`);
  if (place === 'header' && IGNORED_HEADERS.has(name.toLowerCase())) return null;
  const { schema, mediaType } = contentOf(given);
  const own = typeof style === 'string' ? style : defaultStyle(place as Place);
  return {
    name,
    in: place as Place,
    required: place === 'path' || required === true,
    style: own,
    explode: typeof explode === 'boolean' ? explode : own === 'form',
    allowReserved: allowReserved === true,
    ...(mediaType === undefined ? {} : { mediaType }),
    schema,
    notes: notesOf(given),
  };
}

/** A parameter is described by `schema`, or by `content` with one media type. */
function contentOf({ schema, content, name }: JsonObject): { schema: unknown; mediaType?: string } {
  if (schema !== undefined || !isRecord(content)) return { schema };
  const [entry] = Object.entries(content);
  if (entry === undefined) throw invalid(`\`content\` of the parameter ${String(name)}`);
  const [mediaType, media] = entry;
  return { mediaType, schema: isRecord(media) ? media['schema'] : undefined };
}

function defaultStyle(place: Place): string {
  return place === 'query' || place === 'cookie' ? 'form' : 'simple';
}

function undescribed(name: string): DescribedParameter {
  return {
    name,
    in: 'path',
    required: true,
    style: 'simple',
    explode: false,
    allowReserved: false,
    schema: { type: 'string' },
    notes: {},
  };
}

/** Header names are compared without case. */
function keyOf({ name, in: place }: DescribedParameter): string {
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`;
}

function invalid(place: string): OperationProblem {
  return new OperationProblem(reason('operation_member_invalid', { place }));
}
