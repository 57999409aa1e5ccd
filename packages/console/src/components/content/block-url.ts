import { onScopeDispose, ref, watch, type Ref } from 'vue';

/** Returns the type of a picture or a recording, which is text of a tool; '' for any other: a blob of this origin must not be a page. */
export function safeMediaType(mimeType: string): string {
  return /^(image|audio)\//i.test(mimeType) ? mimeType : '';
}

/**
 * Returns the URL of a blob that holds the bytes, and revokes it when they change or the component goes. A `blob:` URL
 * can only be made by this page's own scripts, so the content policy allows pictures and audio from no other place.
 */
export function useBlockUrl(base64: () => string, mimeType: () => string): Ref<string> {
  const url = ref('');
  const revoke = (): void => {
    if (url.value !== '') URL.revokeObjectURL(url.value);
  };
  watch(
    [base64, mimeType],
    ([data, type]) => {
      revoke();
      url.value = URL.createObjectURL(new Blob([bytesOf(data)], { type }));
    },
    { immediate: true },
  );
  onScopeDispose(revoke);
  return url;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Encodes text as base64 of its UTF-8 bytes. */
export function base64OfText(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
