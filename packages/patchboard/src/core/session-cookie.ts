/** The cookie that carries an operator's browser session. */
export const SESSION_COOKIE = 'patchboard_session';

/** The session's id among the cookies; null when it is not there. */
export function sessionIdIn(cookies: string | string[] | undefined): string | null {
  if (typeof cookies !== 'string') return null;
  for (const part of cookies.split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === SESSION_COOKIE && value !== undefined && value !== '') return value;
  }
  return null;
}
