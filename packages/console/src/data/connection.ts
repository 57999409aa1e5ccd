import type { PatchboardClient } from '@patchboard/client';
import { computed, ref, watch, type ComputedRef, type Ref } from 'vue';
import type { Subscription } from '../live/hub-messages.ts';
import { clientFor, DEFAULT_TENANT } from './server-client.ts';

/** Kept for this origin alone: the cookie that belongs to it goes to every port of the host. All tabs share it. */
const PROOF_KEY = 'patchboard.session-proof';

/** Null: nobody is signed in here. */
const proof: Ref<string | null> = ref(localStorage.getItem(PROOF_KEY));
export const tenant: Ref<string> = ref(DEFAULT_TENANT);

/** Another tab signed in or out. */
addEventListener('storage', ({ key, newValue }) => {
  if (key === PROOF_KEY) proof.value = newValue;
});
/** A page in the back/forward cache is not told what other tabs store. */
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) proof.value = localStorage.getItem(PROOF_KEY);
});
watch(proof, (value) => {
  if (value === null) localStorage.removeItem(PROOF_KEY);
  else localStorage.setItem(PROOF_KEY, value);
});

/** In whose name, and for which tenant, this page speaks. */
export const subscription: ComputedRef<Subscription> = computed(() => ({
  proof: proof.value,
  tenant: tenant.value,
}));

/** The one way to the server. Another one when the tenant or who is signed in changes. */
export const client: ComputedRef<PatchboardClient> = computed(() => clientFor(subscription.value));

export const holdsProof: ComputedRef<boolean> = computed(() => proof.value !== null);

/** Takes a login token or the operator token. Throws what the server says to a wrong one. */
export async function signIn(token: string): Promise<void> {
  const session = await client.value.sessions.open(token);
  proof.value = session.proof;
}

export async function signOut(): Promise<void> {
  await client.value.sessions.close();
  proof.value = null;
}

/** The token of a login link, which is taken out of the address before anything else. */
export function takeLoginToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('login');
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** What a person pastes: a link, its last part, or the token itself. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  return /login=([^&\s]+)/.exec(text)?.[1] ?? text;
}
