import { createClient, PatchboardError } from '@patchboard/client';

/** Returns whether the server accepts requests without a credential; null if the request failed. */
export async function isLocalMode(url: string): Promise<boolean | null> {
  try {
    await createClient({ url, retry: { retries: 0 } }).stats({ signal: AbortSignal.timeout(3000) });
    return true;
  } catch (error) {
    if (error instanceof PatchboardError && error.code === 'auth_required') return false;
    return null;
  }
}

/** Printed before the question whether to create the first key. */
export const FIRST_KEY_QUESTION: readonly string[] = [
  'This is the first key. It ends local mode: requests without a credential are refused from now on.',
  'That concerns every agent, client, MCP client and script on this machine that uses the server without',
  'a key: give each of them one (PATCHBOARD_KEY, or Authorization: Bearer). The operator token still',
  'works. To sign in to the console afterwards: patchboard login',
];

export const LOCAL_MODE_ENDS =
  'This is the first key, so local mode has ended: requests now need a credential (PATCHBOARD_KEY, or Authorization: Bearer).';

export const LOCAL_MODE_STAYS_OFF =
  'No key is left. Local mode stays off, and the operator token still works. To allow requests without a credential again, stop the server and run: patchboard data allow-local-mode';
