// Runs the conformance suite of MCP and the clients in interop/ against this build. Passes its arguments on: names of
// clients, or `conformance`. The clients are a separate package outside the workspaces, so that they are never installed
// for users.
import { installNestedPackage, runSource } from './nested-package.mjs';

installNestedPackage('interop/conformance');
installNestedPackage('interop');
runSource('interop/main.ts');
