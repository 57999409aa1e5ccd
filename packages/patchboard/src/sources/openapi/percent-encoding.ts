import { reason } from '@patchboard/wire';
import { argumentProblem } from './argument-problem.ts';

/** Characters that `encodeURIComponent` leaves although RFC 3986 reserves them. */
const LEFT_OVER = /[!'()*]/g;
/** With the flag `u`, half of a pair matches only without its other half. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;
/** `&` and `#` end a value, and form decoders read `+` as a space: these are encoded in any case. */
const RESERVED_IN_QUERY = /%(?:3A|2F|3F|5B|5D|40|21|24|27|28|29|2A|2C|3B|3D)/g;

/** Encodes everything but the unreserved characters of RFC 3986. `argument` is named if the text is not valid Unicode. */
export function percentEncode(text: string, argument: string): string {
  if (LONE_SURROGATE.test(text)) throw argumentProblem(argument, reason('openapi_value_surrogate'));
  return encodeURIComponent(text).replace(LEFT_OVER, percentTriple);
}

/**
 * Leaves reserved characters as they are, except those that would end the value and the `delimiter` of its style. A `%` is
 * encoded, so that the receiver decodes the text that was given.
 */
export function percentEncodeReserved(text: string, argument: string, delimiter = ''): string {
  return percentEncode(text, argument).replace(RESERVED_IN_QUERY, (triple) => {
    const character = decodeURIComponent(triple);
    return character === delimiter ? triple : character;
  });
}

/** Encodes what may not stand in a path, and leaves `/` and existing escapes. For the literal parts of a path template. */
export function encodePathLiteral(literal: string): string {
  return literal
    .replace(LONE_SURROGATES, '\uFFFD')
    .replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+/g, (characters) =>
      encodeURIComponent(characters).replace(LEFT_OVER, percentTriple),
    );
}

function percentTriple(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
