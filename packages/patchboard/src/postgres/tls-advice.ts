/** Error codes for a certificate whose authority is not among those that the URL names. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
/** The driver's message; it has no code. */
const NO_TLS = 'The server does not support SSL connections';

/** Returns the error of a failed connection with what to do, if TLS is its cause. Its code stays the same. */
export function withTlsAdvice(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  const advice = adviceFor(typeof code === 'string' ? code : '', error.message);
  if (advice === null) return error;
  return Object.assign(new Error(`${error.message}: ${advice}`, { cause: error }), { code });
}

function adviceFor(code: string, message: string): string | null {
  if (code === WRONG_NAME) return 'connect by a name in the certificate, or use sslmode=verify-ca';
  if (UNKNOWN_AUTHORITY.has(code))
    return 'set sslrootcert to the certificate of the authority that signed the certificate of the server';
  return message === NO_TLS ? 'turn on ssl in the server, or use sslmode=disable' : null;
}
