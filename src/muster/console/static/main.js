// The first file: applies the theme, lets a one-time link in, and shows the frame.
import {enter} from './lib/session.js';
import {applyTheme} from './lib/theme.js';
import './parts/shell.js';

applyTheme();
await enter();
