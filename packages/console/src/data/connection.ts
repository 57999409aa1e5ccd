import type { PatchboardClient } from '@patchboard/client';
import { LOCAL_AGENT, OPERATOR_AGENT } from '@patchboard/wire';
import { computed, ref, watch, type ComputedRef, type Ref } from 'vue';
import type { Subscription } from '../live/hub-messages.ts';
import { clientFor, DEFAULT_TENANT } from './server-client.ts';

/** Stored per origin, because the session cookie is sent to every port of the host. All tabs share it. */
const PROOF_KEY = 'patchboard.session-proof';

/** Null if not signed in. */
const proof: Ref<string | null> = ref(localStorage.getItem(PROOF_KEY));
export const tenant: Ref<string> = ref(DEFAULT_TENANT);

/** Another tab signed in or out. */
addEventListener('storage', ({ key, newValue }) => {
  if (key === PROOF_KEY) proof.value = newValue;
});
/** A page in the back/forward cache gets no storage events. */
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) proof.value = localStorage.getItem(PROOF_KEY);
});
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
export const ownAgent: ComputedRef<string> = computed(() =>
  proof.value === null ? LOCAL_AGENT : OPERATOR_AGENT,
);

export const holdsProof: ComputedRef<boolean> = computed(() => proof.value !== null);

/** Signs in with a login token or the operator token. Throws the server's error for a wrong one. */
export async function signIn(token: string): Promise<void> {
  const session = await client.value.sessions.open(token);
  proof.value = session.proof;
}

export async function signOut(): Promise<void> {
  await client.value.sessions.close();
  proof.value = null;
}

/** Returns the token of a login link and removes it from the URL. */
export function takeLoginToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('login');
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** Extracts the token from pasted text: a link, its fragment, or the token itself. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  return /login=([^&\s]+)/.exec(text)?.[1] ?? text;
}
