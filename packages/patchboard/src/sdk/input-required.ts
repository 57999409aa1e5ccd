import { reason, reasonsText, type JsonSchema } from '@patchboard/wire';
import { InputRequired, type InputRequest, type LibrarySchema } from '../core/call/input.ts';
import { isRecord } from '@patchboard/wire/json';
import { jsonCopy } from '../core/json/json-copy.ts';
import type { ReadSchema } from '../core/tools/server-tool.ts';
import { shown } from './shape.ts';
import { inputRequest } from './tool-shape.ts';
import { zodParser } from './zod-parser.ts';
import { isSchemaOfLibrary, isZodSchema, zodToJsonSchema, type ZodSchema } from './zod-schema.ts';

/** An input request whose schema is of zod or a JSON Schema. */
type GivenRequest = InputRequest<JsonSchema | ZodSchema>;

export interface InputRequiredOptions {
  /** JSON that the tool gets as `context.carried` in its next run. */
  readonly carry?: unknown;
}

/** The key of a request that was given without one. */
const ONLY_KEY = 'input';

/**
 * Makes what a tool returns to ask its caller: one request, whose response is `context.inputs.input`, or several by key.
 * The attempt is over and its slot free; with the responses the tool runs again. Throws `TypeError` for an invalid request.
 */
export function inputRequired(
  requests: GivenRequest | Readonly<Record<string, GivenRequest>>,
  { carry }: InputRequiredOptions = {},
): InputRequired {
  const given = byKey(requests);
  const read: Record<string, InputRequest> = {};
  for (const [key, request] of Object.entries(given)) {
    const problem = inputRequest(request, requests === given ? key : '');
    if (problem !== null) throw new TypeError(`inputRequired(): ${reasonsText(problem)}`);
    const { schema, ...rest } = request;
    read[key] = schema === undefined ? rest : { ...rest, schema: readInputSchema(schema).json };
  }
  if (Object.keys(read).length === 0) throw new TypeError('inputRequired() takes at least one request');
  if (carry === undefined) return new InputRequired(read);
  const copy = jsonCopy(carry);
  if (copy === undefined) throw new TypeError('inputRequired(): JSON cannot represent `carry`');
  return new InputRequired(read, copy);
}

/** A request has a text as `message`; in an object of requests even that key holds an object. */
function byKey(given: unknown): Readonly<Record<string, GivenRequest>> {
  if (!isRecord(given))
    throw new TypeError(`inputRequired() takes a request or an object of requests; it is ${shown(given)}`);
  return (typeof given['message'] === 'string' ? { [ONLY_KEY]: given } : given) as Record<
    string,
    GivenRequest
  >;
}

/** Reads the schema of an input request. Throws `TypeError` for a schema of a library other than zod. */
export function readInputSchema(schema: JsonSchema | LibrarySchema): ReadSchema {
  if (isZodSchema(schema)) {
    const parse = zodParser(schema, (path, problem) =>
      reason('at_place', { place: `content${path}`, problem: [problem] }),
    );
    return { json: zodToJsonSchema(schema, 'input'), parse };
  }
  if (isSchemaOfLibrary(schema))
    throw new TypeError(reasonsText([reason('schema_of_other_library', { place: 'schema' })]));
  return { json: schema as JsonSchema, parse: (content) => content };
}
