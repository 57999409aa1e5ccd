import { isSecretName, type ConfigValues } from './config-values.ts';

/** Returns an HTTP URL with variables filled in. Error messages do not repeat it, because it may contain a secret. */
export function httpAddress(values: ConfigValues, text: string, place: readonly string[]): string {
  const address = values.filled(text, place);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) values.fail(place, 'must be an http or https URL');
  if (url.username !== '' || url.password !== '')
    values.fail(
      place,
      'must not contain a user name or password, because addresses are shown; send them with headers (Authorization: "Basic …")',
    );
  for (const [name, value] of url.searchParams) if (isSecretName(name)) values.addSecret(value);
  return address;
}

/** Returns headers with variables filled in. */
export function httpHeaders(
  values: ConfigValues,
  headers: Readonly<Record<string, string>> | undefined,
  place: readonly string[],
): Readonly<Record<string, string>> {
  const filled = values.filledRecord(headers, place);
  for (const [name, value] of Object.entries(filled)) {
    try {
      new Headers([[name, value]]);
    } catch {
      // The message of `Headers` repeats the value, which may be a secret.
      values.fail(
        [...place, name],
        'is not a valid HTTP header; a value must not contain line breaks or characters beyond Latin-1',
      );
    }
  }
  return filled;
}
