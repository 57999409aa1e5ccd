/** The cookie that carries an operator's browser session. */
export const SESSION_COOKIE = 'patchboard_session';

/**
 * Goes with the cookie: what the page that logged in was given and keeps for itself. A cookie is sent to every port of
 * its host, so that another program on this machine may get to see it; alone it opens nothing.
 */
export const SESSION_PROOF_HEADER = 'x-session-proof';

/** The session's id among the cookies; null when it is not there. */
export function sessionIdIn(cookies: string | string[] | undefined): string | null {
  if (typeof cookies !== 'string') return null;
  for (const part of cookies.split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === SESSION_COOKIE && value !== undefined && value !== '') return value;
  }
  return null;
}
