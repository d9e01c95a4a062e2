//! Prices and the arithmetic of cost.
