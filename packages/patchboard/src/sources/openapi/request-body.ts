import { reason } from '@patchboard/wire';
import { isRecord, type JsonObject } from '@patchboard/wire/json';
import { visibleLine } from '../../core/tools/tool-names.ts';
import { BODY_ARGUMENT } from './argument-names.ts';
import { isBinary } from './binary-schema.ts';
import { formEncoding } from './form-encoding.ts';
import type { ListedOperation } from './operation-list.ts';
import { OperationProblem } from './operation-problem.ts';
import type { OperationBody } from './operation.ts';
import { isJsonMediaType } from './parameter-values.ts';
import type { Description } from './read-description.ts';
import type { Member } from './schema-bundle.ts';
import { notesOf } from './schema-notes.ts';

/** The body of an operation's requests, and the argument that holds it. */
export interface DescribedBody {
  readonly body: OperationBody;
  readonly member: Member;
}

/** Methods whose requests have no body. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['get', 'head']);
const TEXT: JsonObject = { type: 'string' };
/** Media types whose bodies are bytes, whatever their schema. */
const BINARY_TYPES = /^(?:application\/octet-stream|(?:audio|font|image|video)\/[^;]+)\s*(?:;|$)/i;
const BYTES: JsonObject = { type: 'string', contentEncoding: 'base64' };

/**
 * Chooses the media type of the body: JSON before forms, then text, then bytes. Returns null if the operation has no body.
 * Throws an `OperationProblem`.
 */
export function bodyOf(
  { operation, method }: ListedOperation,
  description: Description,
): DescribedBody | null {
  const given = description.references.follow(operation['requestBody']);
  if (given === undefined || given === null) return null;
  if (!isRecord(given) || !isRecord(given['content'])) throw invalid();
  const required = given['required'] === true;
  if (WITHOUT_BODY.has(method)) {
    // OpenAPI 3.0 ignores such a body.
    if (!required) return null;
    throw new OperationProblem(reason('openapi_body_of_get', { method: method.toUpperCase() }));
  }
  const entries = Object.entries(given['content']).map(([mediaType, media]) => ({
    mediaType,
    media: isRecord(media) ? media : {},
  }));
  if (entries.length === 0) return null;
  for (const kind of KINDS) {
    const entry = entries.find(({ mediaType, media }) => kind.accepts(mediaType, media, description));
    if (entry === undefined) continue;
    const { schema, ...rest } = kind.describe(entry.media, description);
    const notes = { ...notesOf(given), ...examplesOf(entry.media) };
    return {
      body: { argument: BODY_ARGUMENT, mediaType: entry.mediaType, required, ...rest },
      member: { name: BODY_ARGUMENT, schema, required, notes },
    };
  }
  const types = entries.map(({ mediaType }) => visibleLine(mediaType.slice(0, 100)));
  throw new OperationProblem(reason('operation_body_types', { types: types.slice(0, 5).join(', ') }));
}

interface Kind {
  accepts(mediaType: string, media: JsonObject, description: Description): boolean;
  describe(
    media: JsonObject,
    description: Description,
  ): { schema: unknown } & Pick<OperationBody, 'binary' | 'encoding'>;
}

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** The supported kinds of bodies, the preferred first. */
const KINDS: readonly Kind[] = [
  {
    accepts: (mediaType, media, description) =>
      essenceOf(mediaType) === 'application/json' && !isBytes(media, description),
    describe: ({ schema }) => ({ schema }),
  },
  {
    accepts: (mediaType, media, description) => isJsonMediaType(mediaType) && !isBytes(media, description),
    describe: ({ schema }) => ({ schema }),
  },
  ...FORMS.map((form): Kind => ({
    accepts: (mediaType) => essenceOf(mediaType) === form,
    describe: (media, description) => formOf(media, description),
  })),
  {
    accepts: (mediaType, media, description) =>
      (essenceOf(mediaType).startsWith('text/') || isText(media, description)) &&
      !isBytes(media, description),
    describe: (media, description) => ({ schema: isText(media, description) ? media['schema'] : TEXT }),
  },
  {
    accepts: (mediaType, media, description) =>
      BINARY_TYPES.test(mediaType.trim()) || isBytes(media, description),
    describe: () => ({ schema: BYTES, binary: true }),
  },
];

function formOf(
  media: JsonObject,
  description: Description,
): { schema: unknown } & Pick<OperationBody, 'encoding'> {
  const encoding = formEncoding(media, description);
  return { schema: media['schema'] ?? { type: 'object' }, ...(encoding === null ? {} : { encoding }) };
}

function isText({ schema }: JsonObject, { references }: Description): boolean {
  const target = references.follow(schema);
  return isRecord(target) && target['type'] === 'string';
}

function isBytes({ schema }: JsonObject, { references }: Description): boolean {
  return isBinary(references.follow(schema));
}

function examplesOf(media: JsonObject): JsonObject {
  const { examples } = notesOf(media);
  return examples === undefined ? {} : { examples };
}

/** The media type without parameters, in lower case. */
function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

function invalid(): OperationProblem {
  return new OperationProblem(reason('operation_member_invalid', { place: '`requestBody`' }));
}
