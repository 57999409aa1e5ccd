import type { JsonSchema } from '@patchboard/wire';
import { PatchboardError } from '../errors.ts';

/** What a tool asks its caller for: content that fits `schema`, or a visit to `url`. */
export interface LentInputRequest {
  /** The question, for the user of the caller. */
  readonly message: string;
  /** JSON Schema of the content. Default: any object; a request with a `url` has none. */
  readonly schema?: JsonSchema;
  readonly url?: string;
}

/** The members of the request that are sent. */
export function inputMembers({ message, schema, url }: LentInputRequest): LentInputRequest {
  if (typeof message !== 'string' || message === '')
    throw new TypeError('an input request needs a message: a text that is not empty');
  return { message, ...(schema === undefined ? {} : { schema }), ...(url === undefined ? {} : { url }) };
}

/** The error with which a tool's request rejects if the caller declines. */
export function inputDeclined(): PatchboardError {
  return new PatchboardError('input', 'the caller declined the input request', { code: 'input_declined' });
}
