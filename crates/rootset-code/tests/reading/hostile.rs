//! Files that are made to hurt: no hang, no overflow of a small stack, no crash. Giving up is an answer.
