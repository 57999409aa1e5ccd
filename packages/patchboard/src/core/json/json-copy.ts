/** Returns a deep copy of the value as JSON represents it; undefined if JSON cannot represent it. */
export function jsonCopy(value: unknown): unknown {
  const text = jsonText(value);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

/** Returns undefined if JSON cannot represent the value. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined;
  } catch {
    return undefined;
  }
}
