import { INPUT_KINDS, type InputKind, type JsonSchema } from '@patchboard/wire';
import type { Failure } from '../failures.ts';

/** What a caller can respond to. True: forms and links; false: nothing. */
export type AcceptedInput = boolean | readonly InputKind[];

const FORM_AND_URL: readonly InputKind[] = ['form', 'url'];
const NONE: readonly InputKind[] = [];

export function acceptedKinds(accepted: AcceptedInput): readonly InputKind[] {
  if (typeof accepted !== 'boolean') return accepted;
  return accepted ? FORM_AND_URL : NONE;
}

/** The same without repetitions, and a boolean wherever one says it. Default: true. */
export function normalizedInput(accepted: AcceptedInput = true): AcceptedInput {
  if (typeof accepted === 'boolean') return accepted;
  const kinds = INPUT_KINDS.filter((kind) => accepted.includes(kind));
  if (kinds.length === 0) return false;
  return kinds.join() === FORM_AND_URL.join() ? true : kinds;
}

/** The parameters of `sampling/createMessage` of MCP. Members that are not named here are passed on as they are. */
export interface SamplingParams {
  readonly messages: readonly unknown[];
  readonly maxTokens: number;
  readonly [member: string]: unknown;
}

/** What makes the kind of a request. */
export interface Requested {
  readonly url?: string | null;
  readonly sampling?: SamplingParams;
  readonly roots?: true;
}

export function kindOf({ url, sampling, roots }: Requested): InputKind {
  if (typeof url === 'string') return 'url';
  if (sampling !== undefined) return 'sampling';
  return roots === true ? 'roots' : 'form';
}

const DEFAULT_SCHEMA = { type: 'object' } as const;

/** The schema of the content; null if the request is a link. */
export function schemaOf(request: Requested & { readonly schema?: JsonSchema }): JsonSchema | null {
  switch (kindOf(request)) {
    case 'form':
      return request.schema ?? DEFAULT_SCHEMA;
    case 'url':
      return null;
    case 'sampling':
      return SAMPLING_RESULT;
    case 'roots':
      return ROOTS_RESULT;
  }
}

const TEXT = { type: 'string' } as const;

const BLOCK = {
  anyOf: [
    blockOf('text', { text: TEXT }),
    blockOf('image', { data: TEXT, mimeType: TEXT }),
    blockOf('audio', { data: TEXT, mimeType: TEXT }),
    blockOf('tool_use', { id: TEXT, name: TEXT, input: { type: 'object' } }),
    blockOf('tool_result', { toolUseId: TEXT }),
  ],
};

/** Of a sampling message: one block or several. */
const BLOCKS = { anyOf: [BLOCK, { type: 'array', items: BLOCK }] };

function blockOf(type: string, members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const properties = { type: { const: type }, ...members };
  return { type: 'object', properties, required: Object.keys(properties) };
}

const ROLE = { enum: ['user', 'assistant'] } as const;

/** The result of `sampling/createMessage`. */
const SAMPLING_RESULT: JsonSchema = {
  type: 'object',
  properties: { role: ROLE, content: BLOCKS, model: TEXT, stopReason: TEXT },
  required: ['role', 'content', 'model'],
};

export const SAMPLING_PARAMS: JsonSchema = {
  type: 'object',
  properties: {
    messages: {
      type: 'array',
      items: { type: 'object', properties: { role: ROLE, content: BLOCKS }, required: ['role', 'content'] },
    },
    maxTokens: { type: 'integer', minimum: 1 },
  },
  required: ['messages', 'maxTokens'],
};

/** The result of `roots/list`. */
const ROOTS_RESULT = {
  type: 'object',
  properties: {
    roots: {
      type: 'array',
      items: {
        type: 'object',
        properties: { uri: { type: 'string', minLength: 1 }, name: TEXT },
        required: ['uri'],
      },
    },
  },
  required: ['roots'],
} as const;

/** The kind of input that a tool asked for and its caller cannot give; null for another failure. */
export function missingInputKind({ code, reasons = [] }: Failure): InputKind | null {
  if (code !== 'input_unavailable') return null;
  const kind = reasons.find((one) => one.code === 'input_caller_cannot')?.params['kind'];
  return INPUT_KINDS.find((known) => known === kind) ?? null;
}
