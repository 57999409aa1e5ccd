import { PEER_ID_PATTERN } from '@patchboard/wire';
import { UsageError } from './exit-codes.ts';

/** Throws a `UsageError` if this cannot be a name or id. `what`: the option, or another name of it for the message. */
export function throwIfInvalidId(what: string, id: string): void {
  if (!PEER_ID_PATTERN.test(id))
    throw new UsageError(`${what} must be 1 to 200 visible ASCII characters without spaces`);
}
