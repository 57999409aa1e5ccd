import { reason } from '@patchboard/wire';
import { argumentProblem } from './argument-problem.ts';

/** Decodes bytes that an argument holds as base64. Refuses other text, which `Buffer` would skip silently. */
export function bytesOfBase64(value: unknown, argument: string): Uint8Array<ArrayBuffer> {
  const text = typeof value === 'string' ? value : null;
  if (text === null || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1)
    throw argumentProblem(argument, reason('openapi_value_base64'));
  return Uint8Array.from(Buffer.from(text, 'base64'));
}
