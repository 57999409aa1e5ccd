/** Sign-in with a key, what it may do, and the first key. */
export const accessWords = {
  access: {
    areKey: 'You are signed in with the key of {name}. Pages and buttons follow its scopes and its tenant.',
    until: 'Session until',
    ownTenant: 'The tenant of your key',
    refused: 'The key of {name} may not read this.',
    page: 'The key of {name} may not open this page.',
    needs: 'It needs the scope',
    or: 'or',
    ofServer: 'It is about the whole server; the key is for one tenant.',
    other: 'To use another key, or the operator token, sign out and in again on the',
  },
  firstKey: {
    title: 'Create the first key?',
    ends: 'The first key ends local mode: requests without a credential are refused from now on.',
    concerns:
      'That concerns every agent, client, MCP client and script on this machine that uses the server without a key. Give each of them a key (PATCHBOARD_KEY, or Authorization: Bearer).',
    after:
      'You stay signed in here. In another browser, or after this session, sign in with the link that this prints, or with a key:',
    create: 'End local mode and create the key',
    leave: 'Not now',
  },
};
