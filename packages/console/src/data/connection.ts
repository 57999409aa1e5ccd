import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import { LOCAL_AGENT, OPERATOR_AGENT, type CurrentSessionView } from '@patchboard/wire';
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue';
import type { Subscription } from '../live/hub-messages.ts';
import { clientFor, DEFAULT_TENANT } from './server-client.ts';

/** Stored per origin, because the session cookie is sent to every port of the host. All tabs share it. */
const PROOF_KEY = 'patchboard.session-proof';

/** Null if not signed in. */
const proof: Ref<string | null> = ref(localStorage.getItem(PROOF_KEY));
/** Who is signed in; null until the server has responded, and if it refuses. */
export const currentSession: ShallowRef<CurrentSessionView | null> = shallowRef(null);
/** `asking`: this page has a session, and the server has not yet said whose. */
export const sessionState: Ref<'asking' | 'known' | 'refused'> = ref(
  proof.value === null ? 'refused' : 'asking',
);
/** This page has no session, and the server refuses requests without a credential. */
export const isSignedOut: Ref<boolean> = ref(false);
/** Changes with the session, so that nothing read with one is shown with another. */
export const sessionNumber: Ref<number> = ref(0);
/** The tenant that the URL names. */
export const urlTenant: Ref<string> = ref(DEFAULT_TENANT);
/** The tenant of this page's requests. A key is for one tenant, whatever the URL names. */
export const tenant: ComputedRef<string> = computed(() => currentSession.value?.tenant ?? urlTenant.value);

/** Another tab signed in or out. */
addEventListener('storage', ({ key, newValue }) => {
  if (key === PROOF_KEY) proof.value = newValue;
});
/** A page in the back/forward cache gets no storage events. */
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) proof.value = localStorage.getItem(PROOF_KEY);
});
watch(
  proof,
  () => {
    currentSession.value = null;
    isSignedOut.value = false;
    sessionState.value = proof.value === null ? 'refused' : 'asking';
    sessionNumber.value += 1;
  },
  { flush: 'sync' },
);
watch(proof, (value) => {
  if (value === null) localStorage.removeItem(PROOF_KEY);
  else localStorage.setItem(PROOF_KEY, value);
});

/** The session and the tenant of this page's requests. */
export const subscription: ComputedRef<Subscription> = computed(() => ({
  proof: proof.value,
  tenant: tenant.value,
}));

/** The client for all requests; replaced when the tenant or the session changes. */
export const client: ComputedRef<PatchboardClient> = computed(() => clientFor(subscription.value));

/** The agent of the calls that this page makes. */
export const ownAgent: ComputedRef<string> = computed(
  () => currentSession.value?.name ?? (proof.value === null ? LOCAL_AGENT : OPERATOR_AGENT),
);

export const holdsProof: ComputedRef<boolean> = computed(() => proof.value !== null);

/** Reads who is signed in. Sent without the tenant: a key refuses every tenant but its own. */
export async function readCurrentSession(signal: AbortSignal): Promise<CurrentSessionView> {
  const number = sessionNumber.value;
  const server = clientFor({ proof: proof.value, tenant: DEFAULT_TENANT });
  const isCurrent = (): boolean => number === sessionNumber.value && !signal.aborted;
  try {
    const session = await server.sessions.current({ signal });
    if (isCurrent()) know(session);
    return session;
  } catch (error) {
    if (isCurrent()) {
      sessionState.value = 'refused';
      isSignedOut.value = isWithoutCredential(error);
    }
    throw error;
  }
}

/** A page that was open when local mode ended stays: it may hold what the user typed. */
function isWithoutCredential(error: unknown): boolean {
  const isRefused = error instanceof PatchboardError && error.status === 401;
  return isRefused && proof.value === null && currentSession.value === null;
}

function know(session: CurrentSessionView): void {
  currentSession.value = session;
  isSignedOut.value = false;
  sessionState.value = 'known';
}

/** Signs in with a login token, the operator token or a key. Throws the server's error for a wrong one. */
export async function signIn(token: string): Promise<void> {
  const opened = await client.value.sessions.open(token);
  const session = await clientFor({ proof: opened.proof, tenant: DEFAULT_TENANT }).sessions.current();
  proof.value = opened.proof;
  // Known at once: the page sends no request that the session may not.
  know(session);
}

export async function signOut(): Promise<void> {
  await client.value.sessions.close();
  proof.value = null;
}

/** The prefix of keys. */
const KEY_PREFIX = 'pb_';

/**
 * Returns the token of a login link and removes it from the URL; null if there is none. A key is not accepted: with a link,
 * its holder could sign another person's browser in as the holder.
 */
export function takeLoginToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('login');
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return token?.trim().startsWith(KEY_PREFIX) === true ? null : token;
}

/** Extracts the token from pasted text: a link, its fragment, or the token itself. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  return /login=([^&\s]+)/.exec(text)?.[1] ?? text;
}
