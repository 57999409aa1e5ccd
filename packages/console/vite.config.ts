import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/ui/',
  plugins: [vue()],
  // Straight from the sources of our own packages: nothing has to be built before.
  resolve: { conditions: ['patchboard-source', 'module', 'browser', 'development|production'] },
  define: {
    __VUE_I18N_LEGACY_API__: false,
    __VUE_I18N_FULL_INSTALL__: false,
    __INTLIFY_PROD_DEVTOOLS__: false,
  },
  worker: { format: 'es' },
  build: {
    outDir: '../patchboard/dist/console',
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows no data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
    reportCompressedSize: false,
    // A slow machine is no fault of a plugin: the first start would print a table of them.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
