/**
 * Exchanges the one-time token of a login link for the session cookie. The token is in the fragment, which no server
 * and no proxy log ever sees, and it is taken out of the address before anything else.
 */
export const LOGIN_SCRIPT = `'use strict';
const token = new URLSearchParams(location.hash.slice(1)).get('login');
if (token !== null) {
  history.replaceState(null, '', location.pathname);
  const say = (text) => { document.getElementById('login').textContent = text; };
  fetch('/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  }).then(
    (response) => say(response.ok
      ? 'You are signed in as operator.'
      : 'This login link was used before or has expired. Restart the server for a new one.'),
    () => say('The server does not answer.'),
  );
}
`;
