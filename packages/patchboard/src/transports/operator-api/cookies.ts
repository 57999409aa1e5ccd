import { SESSION_COOKIE } from '../../core/access/session-cookie.ts';

/** Only the server reads it, only over this site's own requests. */
const RULES = 'Path=/; HttpOnly; SameSite=Strict';

export function cookieOf(id: string, maxAgeSeconds: number): string {
  return `${SESSION_COOKIE}=${id}; Max-Age=${maxAgeSeconds}; ${RULES}`;
}

export function clearedCookie(): string {
  return `${SESSION_COOKIE}=; Max-Age=0; ${RULES}`;
}
