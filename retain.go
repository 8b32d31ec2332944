package debate
