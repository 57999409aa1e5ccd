/**
 * Exchanges the one-time token of a login link for the session. The token is in the fragment, which no server and no
 * proxy log ever sees, and it is taken out of the address before anything else. The proof that goes with the cookie is
 * kept for this origin alone: the cookie itself goes to every port of the host.
 */
export const LOGIN_SCRIPT = `'use strict';
const token = new URLSearchParams(location.hash.slice(1)).get('login');
const say = (text) => { document.getElementById('login').textContent = text; };
async function login() {
  const response = await fetch('/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  if (!response.ok) {
    say('This login link was used before or has expired. Get a new one with: npx patchboard login');
    return;
  }
  sessionStorage.setItem('patchboard.session-proof', (await response.json()).proof);
  say('You are signed in as operator.');
}
if (token !== null) {
  history.replaceState(null, '', location.pathname);
  login().catch(() => say('The server does not answer.'));
}
`;
