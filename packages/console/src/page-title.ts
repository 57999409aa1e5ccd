import { ref } from 'vue';

/** Heading of the page that is shown, for the title of its tab; empty if the page has none. */
export const pageTitle = ref('');
