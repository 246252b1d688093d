// SPDX-License-Identifier: GPL-2.0-or-later
// esbuild takes style sheets that a file imports.
declare module "*.css";
