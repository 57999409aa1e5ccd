import { SESSION_COOKIE } from '@patchboard/wire';

/** Only the server reads it, only over this site's own requests. */
const RULES = 'Path=/; HttpOnly; SameSite=Strict';

/** `isSecure`: the browser came over TLS, so it must never send the cookie without. */
export function cookieOf(id: string, maxAgeSeconds: number, isSecure: boolean): string {
  return `${SESSION_COOKIE}=${id}; Max-Age=${maxAgeSeconds}; ${rulesOf(isSecure)}`;
}

export function clearedCookie(isSecure: boolean): string {
  return `${SESSION_COOKIE}=; Max-Age=0; ${rulesOf(isSecure)}`;
}

function rulesOf(isSecure: boolean): string {
  return isSecure ? `${RULES}; Secure` : RULES;
}
