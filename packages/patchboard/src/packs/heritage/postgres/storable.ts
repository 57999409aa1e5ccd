/** PostgreSQL stores no zero bytes in text. Used for what statements compare; records are JSON, which escapes them. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}');
}
