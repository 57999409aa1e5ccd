const YEAR_MS = 365.25 * 86_400_000;

/** Upper bound on a credential's lifetime. A later expiry is a mistake, such as milliseconds in place of seconds. */
const MAX_LIFETIME_MS = 10 * YEAR_MS;

export const EXPIRY_RULE = 'at most ten years ahead';

/** `expiresAt` and `now` in epoch milliseconds. */
export function isSaneExpiry(expiresAt: number, now: number): boolean {
  return Number.isSafeInteger(expiresAt) && expiresAt - now <= MAX_LIFETIME_MS;
}
