const YEAR_MS = 365.25 * 86_400_000;

/** How far ahead a credential may expire. What is further is a mistake, such as milliseconds for seconds. */
const MAX_LIFETIME_MS = 10 * YEAR_MS;

export const EXPIRY_RULE = 'at most ten years ahead';

/** `expiresAt` and `now` in epoch milliseconds. */
export function isSaneExpiry(expiresAt: number, now: number): boolean {
  return Number.isSafeInteger(expiresAt) && expiresAt - now <= MAX_LIFETIME_MS;
}
