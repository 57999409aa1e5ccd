// Runs the benchmark, a separate package outside the workspaces, so that the compared packages are never
// installed for users. Passes its arguments on.
import { installNestedPackage, runSource } from './nested-package.mjs';

installNestedPackage('bench');
runSource('bench/main.ts');
