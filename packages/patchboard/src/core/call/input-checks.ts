import { reason, type Reason } from '@patchboard/wire';
import { BoundedMap } from '../bounded-map.ts';
import { failure, problemOf, type Failure } from '../failures.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import type { CompiledSchema, Schemas } from '../ports.ts';
import {
  INPUT_CONTENT_BYTES,
  MAX_REQUESTS_OF_ROUND,
  type InputRequest,
  type InputRound,
  type RequestsByKey,
} from './input.ts';
import {
  acceptedKinds,
  kindOf,
  SAMPLING_PARAMS,
  schemaOf,
  type AcceptedInput,
  type Requested,
  type SamplingParams,
} from './input-kinds.ts';

const MESSAGE_CHARACTERS = 4000;
/** Compiled schemas of requests, by their text. */
const SCHEMAS_KEPT = 256;

/** Validates input requests, and the contents that are given to them. */
export class InputChecks {
  readonly #schemas: Schemas;
  readonly #compiled: BoundedMap<string, CompiledSchema> = new BoundedMap(SCHEMAS_KEPT);

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** Returns why the requests that are made together are invalid; null if they are valid. */
  requestsProblem(requests: RequestsByKey): Failure | null {
    const count = Object.keys(requests).length;
    if (count === 0) return invalid(reason('input_request_empty'));
    if (count > MAX_REQUESTS_OF_ROUND)
      return invalid(reason('input_requests_too_many', { count: MAX_REQUESTS_OF_ROUND }));
    for (const request of Object.values(requests)) {
      const problem = this.#requestProblem(request);
      if (problem !== null) return problem;
    }
    return null;
  }

  /** Returns why the content does not fit the schema of a request; null if it does. */
  misfit(id: string, schema: NonNullable<InputRound['schema']>, content: unknown): Failure | null {
    const compiled = this.#compile(schema);
    // It was compiled when it was requested.
    if (!compiled.ok)
      return failure('internal', reason('input_schema_invalid', { problem: [compiled.problem] }));
    const issues = compiled.validate(content);
    return issues === null
      ? null
      : failure('input_invalid', reason('input_does_not_fit', { id }), { issues });
  }

  #compile(schema: NonNullable<InputRound['schema']>): CompiledSchema {
    const text = JSON.stringify(schema);
    const known = this.#compiled.use(text);
    if (known !== undefined) return known;
    const compiled = this.#schemas.compile(schema, 'outside');
    this.#compiled.set(text, compiled);
    return compiled;
  }

  #requestProblem(request: InputRequest): Failure | null {
    const { message, schema, url, sampling, roots } = request;
    if (typeof message !== 'string' || message.trim() === '') return invalid(reason('input_message_missing'));
    if (message.length > MESSAGE_CHARACTERS)
      return invalid(reason('input_message_too_long', { characters: MESSAGE_CHARACTERS }));
    if ([schema, url, sampling, roots].filter((member) => member !== undefined).length > 1)
      return invalid(reason('input_request_mixed'));
    if (sampling !== undefined) return this.#samplingProblem(sampling);
    if (url !== undefined)
      return /^https?:\/\/[^\s]+$/.test(url)
        ? null
        : invalid(reason('input_url_invalid', { url: url.slice(0, 100) }));
    const own = schemaOf(request);
    const compiled = own === null ? null : this.#compile(own);
    if (compiled === null || compiled.ok) return null;
    return invalid(reason('input_schema_invalid', { problem: [compiled.problem] }));
  }

  #samplingProblem(sampling: SamplingParams): Failure | null {
    if (utf8Bytes(JSON.stringify(sampling) ?? '') > INPUT_CONTENT_BYTES)
      return invalid(reason('input_sampling_too_large', { bytes: INPUT_CONTENT_BYTES }));
    const compiled = this.#compile(SAMPLING_PARAMS);
    const issues = compiled.ok ? compiled.validate(sampling) : null;
    if (issues === null) return null;
    const shown = issues
      .slice(0, 3)
      .map((issue) => reason('at_place', { place: `sampling${issue.path}`, problem: problemOf(issue) }));
    return invalid(reason('input_sampling_invalid', { issues: shown }));
  }
}

/** Returns why the caller cannot respond to one of these; null if it can. `name`: of the tool or prompt that asks. */
export function kindProblem(
  name: string,
  accepted: AcceptedInput,
  requests: readonly Requested[],
): Failure | null {
  const kinds = acceptedKinds(accepted);
  const missing = requests.map(kindOf).find((kind) => !kinds.includes(kind));
  if (missing === undefined) return null;
  return failure('input_unavailable', reason('input_caller_cannot', { tool: name, kind: missing }));
}

function invalid(why: Reason): Failure {
  return failure('tool_failed', why);
}
